// Backends and servers of sessions: sessions of one backend share one object, so that thousands take little memory.
import type { OpenSession } from '../../exchange/open-sessions.ts'
import type { McpSession } from './session-id.ts'

export type SessionPlace = Pick<OpenSession, 'scope' | 'servers'>

/** Those that are shared. */
const PLACES_MAX = 1000

export class SessionPlaces {
  readonly #places = new Map<string, SessionPlace>()

  of({ scope, targets }: Pick<McpSession, 'scope' | 'targets'>): SessionPlace {
    const servers = targets.map(({ target, isModern, isSkipped }) => `${target} ${isModern} ${isSkipped}`)
    const key = [scope, ...servers].join('\n')
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const place = {
      scope,
      servers: targets.map(({ target: name, isModern, isSkipped }) => ({ name, isModern, isSkipped })),
    }
    if (this.#places.size >= PLACES_MAX) this.#places.clear()
    this.#places.set(key, place)
    return place
  }
}
