// Lodestar's packages read it when they are loaded, so this module comes first.
process.env.LODESTAR_PRESET = 'minimal';
