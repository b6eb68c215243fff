"""How a prompt comes to be: section builders, budget, versioned templates."""
