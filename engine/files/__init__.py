"""World files in: folders of YAML become an `AuthoredWorld`, or a list of everything that is wrong with them."""
