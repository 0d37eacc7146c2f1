// What policies are called in a trace: the field of the API as words, and before it the level it runs at.

export type PolicyLevel = 'gateway' | 'route' | 'backend'

const CAPITAL = /[A-Z]/g

/** `jwtAuth` at the route is `jwt auth`, `cors` at the gateway `gateway cors`, `auth` at the backend `backend auth`. */
export function displayName(field: string, level: PolicyLevel | undefined): string {
  const words = field.replaceAll(CAPITAL, (letter) => ` ${letter.toLowerCase()}`)
  return level === undefined || level === 'route' ? words : `${level} ${words}`
}
