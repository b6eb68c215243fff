"""The panes of the Play screen: each draws one view and knows no other pane."""
