// Views over a loop: stores, bindings, widgets.
