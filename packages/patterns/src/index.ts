/** The library: one module per pattern. */
