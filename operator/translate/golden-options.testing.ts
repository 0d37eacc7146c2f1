// The options that the first lines of a golden input may set.

/** `defaults=none` leaves out _defaults.yaml; `schema=older` skips the schema, with the reason beside it. */
export const GOLDEN_OPTIONS: readonly string[] = [
  'defaults',
  'clusterDomain',
  'className',
  'controllerNamespace',
  'backendRefGrantMode',
  'hostBindings',
  'models',
  'pools',
  'schema',
]
