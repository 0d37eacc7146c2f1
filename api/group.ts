// Our API group and its version, defined once. Everything that spells the group imports or is generated from this.

export const GROUP = 'gw.dev'

export const VERSION = 'v1alpha1'

export const API_VERSION = `${GROUP}/${VERSION}` as const
