// The lists of a rendered configuration and the fields that name an item in each, for all code that keeps, cuts or
// compares lists. Pure.
import type { RenderedConfig } from './types.gen.ts'

export type ListName = Exclude<keyof RenderedConfig, 'version' | 'customFunctions'>

/** The fields that name an item. All lists: without one this does not compile. */
const KEY_FIELDS: { readonly [L in ListName]: readonly (keyof RenderedConfig[L][number] & string)[] } = {
  binds: ['key'],
  listeners: ['key'],
  routes: ['key'],
  tcpRoutes: ['key'],
  backends: ['key'],
  policies: ['key'],
  services: ['namespace', 'hostname'],
  workloads: ['uid'],
}

// Object.keys loses the names; the table has exactly these.
export const LIST_NAMES = Object.keys(KEY_FIELDS) as readonly ListName[]

/** The name of an item within its list; undefined fields of what is no item count as empty. */
export function keyOfItem(list: ListName, item: object): string {
  let key: string | undefined
  for (const field of KEY_FIELDS[list]) {
    const value = String(Reflect.get(item, field) ?? '')
    key = key === undefined ? value : `${key}/${value}`
  }
  return key ?? ''
}
