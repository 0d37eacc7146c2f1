// The model of a Realtime session: in the query, or in the first `session.update` that names one. It cannot change
// later: policies, limits and cost belong to it.
import { isRecord } from '#api/json.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import type { SocketCheck, CheckedEvent } from './checked-socket.ts'
import { namesOf } from './guards/conversation.ts'
import { editedText, readJsonText } from './json-text.ts'
import { asObject, asString, type JsonObject } from './json.ts'
import type { RealtimeErrors } from './realtime-errors.ts'

const UPDATE = 'session.update'
const INVALID = 'the message is not a JSON object'
const CHANGED = 'the model of a session cannot be changed: open another session'

export class SessionModel implements SocketCheck {
  readonly #facts: LlmFacts
  readonly #modelFor: (asked: string) => string
  readonly #errors: RealtimeErrors

  /** `modelFor`: what the provider gets for a name that the client sends. */
  constructor(facts: LlmFacts, modelFor: (asked: string) => string, errors: RealtimeErrors) {
    this.#facts = facts
    this.#modelFor = modelFor
    this.#errors = errors
  }

  check(text: string): CheckedEvent {
    // Most messages are audio. A name with escapes has a backslash.
    if (!text.includes(UPDATE) && !text.includes('\\')) return { kind: 'passed', text }
    const json = readJsonText(text)
    if (json === undefined) return this.#refused(INVALID, null, undefined)
    const members = { ...json.members }
    for (const name of namesOf(members, 'session')) {
      const session = this.#edited(asObject(members[name]))
      if (session === undefined) return this.#refused(CHANGED, 'session.model', json.members)
      if (isRecord(members[name])) members[name] = session
    }
    return { kind: 'passed', text: editedText({ ...json, members }) }
  }

  /** With the model that the provider gets. undefined: the session has another one. */
  #edited(session: JsonObject): JsonObject | undefined {
    const edited = { ...session }
    for (const name of namesOf(session, 'model')) {
      const asked = asString(session[name])
      if (asked === undefined) continue
      const model = this.#modelFor(asked)
      const known = (this.#facts.requestModel ??= model)
      if (model !== known && asked !== known) return undefined
      edited[name] = known
    }
    return edited
  }

  #refused(message: string, param: string | null, event: JsonObject | undefined): CheckedEvent {
    return { kind: 'rejected', error: this.#errors.refused(message, param, asString(event?.['event_id'])) }
  }
}
