// The texts of a request or an answer as spans, and the body with other texts: all other values stay the same objects,
// so that json-text.ts keeps their bytes.
import { exactDigits } from '#api/bounded-json.ts'
import { isRecord } from '#api/json.ts'
import { asObject, asString, type JsonObject } from '../json.ts'
import { editedText, readJsonText } from '../json-text.ts'
import type { TextSpan } from './guard.ts'
import { folded, type FormatTexts, type TextField } from './text-fields.ts'

/** Inside of a string that is the text of a JSON object. */
const INSIDE = Symbol('inside')

export type Step = string | number | typeof INSIDE

interface Place {
  readonly path: readonly Step[]
  readonly span: TextSpan
}

/** A value that repeats texts, such as the tokens of logprobs. */
interface Copy {
  readonly path: readonly Step[]
  readonly empty: null | readonly []
}

export class Conversation {
  readonly #places: readonly Place[]
  readonly #copies: readonly Copy[]

  private constructor({ places, copies }: { readonly places: readonly Place[]; readonly copies: readonly Copy[] }) {
    this.#places = places
    this.#copies = copies
  }

  static ofRequest(body: JsonObject, { request, fields }: FormatTexts): Conversation {
    const reader = new Reader(fields)
    for (const [field, role] of Object.entries(request)) {
      for (const name of namesOf(body, field)) reader.member(name, body[name], { role, field: 'text' })
    }
    return new Conversation(reader)
  }

  static ofAnswer(body: JsonObject, { answer, fields }: FormatTexts): Conversation {
    const reader = new Reader(fields)
    for (const field of answer) {
      for (const name of namesOf(body, field)) reader.member(name, body[name], { role: 'assistant', field: 'text' })
    }
    return new Conversation(reader)
  }

  /** Texts that an event of a stream has as a whole, in any of its members. */
  static ofEvent(event: JsonObject, { fields }: FormatTexts): Conversation {
    const reader = new Reader(fields)
    reader.read(event, { role: 'assistant', field: undefined })
    return new Conversation(reader)
  }

  get spans(): readonly TextSpan[] {
    return this.#places.map(({ span }) => span)
  }

  /** All texts but those at these paths, which are written as `a.0.b`, and those that `isLeftOut` selects. */
  without(paths: ReadonlySet<string>, isLeftOut?: (span: TextSpan) => boolean): Conversation {
    const isOther = ({ path, span }: Place): boolean => {
      if (isLeftOut?.(span) === true) return false
      const inside = path.indexOf(INSIDE)
      return !paths.has((inside === -1 ? path : path.slice(0, inside)).join('.'))
    }
    return new Conversation({ places: this.#places.filter(isOther), copies: this.#copies })
  }

  /**
   * A copy of the body along the paths of the texts that differ. `texts`: one for each span; `body`: equal to the one
   * that was read, or with other texts already (`isChanged`).
   */
  write(texts: readonly string[], body: JsonObject, isChanged = false): JsonObject {
    const changes = new Changes()
    for (const [index, { path, span }] of this.#places.entries()) {
      const text = texts[index]
      if (text !== undefined && text !== span.text) changes.set(path, text)
    }
    if (changes.isEmpty && !isChanged) return body
    for (const { path, empty } of this.#copies) changes.set(path, empty)
    return asObject(changes.appliedTo(body))
  }
}

/** A copy of the value with others at these paths. */
export function withValues(value: JsonObject, values: readonly (readonly [readonly Step[], unknown])[]): JsonObject {
  const changes = new Changes()
  for (const [path, one] of values) changes.set(path, one)
  return changes.isEmpty ? value : asObject(changes.appliedTo(value))
}

interface Position {
  readonly role: TextSpan['role']
  /** undefined: strings are not texts; lists and objects are searched. */
  readonly field: TextField | undefined
}

class Reader {
  readonly places: Place[] = []
  readonly copies: Copy[] = []
  readonly #fields: FormatTexts['fields']
  /** To the value that is being read: copied only where there is a text. */
  readonly #path: Step[] = []

  constructor(fields: FormatTexts['fields']) {
    this.#fields = fields
  }

  /** The value of a member. */
  member(name: string, value: unknown, position: Position): void {
    this.#path.push(name)
    this.read(value, position)
    this.#path.pop()
  }

  read(value: unknown, position: Position): void {
    const { field } = position
    if (field === 'copy') this.#copy(value)
    else if (typeof value === 'string') this.#string(value, position)
    else if (Array.isArray(value)) this.#list(value, (item) => this.read(item, position))
    else if (isRecord(value)) {
      if (field === 'values' || field === 'result') this.#values(value, position)
      else this.#object(value, position.role)
    }
  }

  #list(items: readonly unknown[], read: (item: unknown) => void): void {
    for (const [index, item] of items.entries()) {
      this.#path.push(index)
      read(item)
      this.#path.pop()
    }
  }

  #string(value: string, position: Position): void {
    const { field } = position
    if (field === undefined) return
    const inside = field === 'text' ? undefined : readJsonText(value)?.members
    if (inside === undefined) return this.#add(value, position.role)
    this.#path.push(INSIDE)
    this.#values(inside, position)
    this.#path.pop()
  }

  #object(value: JsonObject, role: TextSpan['role']): void {
    const own = roleOf(value) ?? role
    for (const name of Object.keys(value)) {
      this.member(name, value[name], { role: own, field: this.#fieldOf(name, value) })
    }
  }

  #fieldOf(name: string, { type }: JsonObject): TextField | undefined {
    // Plain text of a document in the format messages; other sources have encoded bytes there.
    if (name === 'data' && type === 'text') return 'text'
    return this.#fields.get(name) ?? this.#fields.get(folded(name))
  }

  #copy(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    this.copies.push({ path: [...this.#path], empty: Array.isArray(value) ? [] : null })
  }

  /** Members of tool arguments have any names. */
  #values(value: unknown, position: Position): void {
    const role = position.field === 'result' ? 'tool' : position.role
    if (typeof value === 'string') this.#add(value, role)
    else if (typeof value === 'number') this.#add(String(value), role)
    else if (Array.isArray(value)) this.#list(value, (item) => this.#values(item, position))
    else if (isRecord(value)) {
      const digits = exactDigits(value)
      if (digits !== undefined) return this.#add(digits, role)
      for (const name of Object.keys(value)) {
        this.#path.push(name)
        this.#values(value[name], position)
        this.#path.pop()
      }
    }
  }

  #add(text: string, role: TextSpan['role']): void {
    if (text === '') return
    const path = [...this.#path]
    this.places.push({ path, span: { role, text, at: shown(path) } })
  }
}

/** Members that a reader without distinction of case takes for this one. */
export function namesOf(body: JsonObject, field: string): readonly string[] {
  return Object.keys(body).filter((name) => folded(name) === folded(field))
}

const ROLES: ReadonlyMap<unknown, TextSpan['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
])
const RESULT_TYPE = /(?:_result|_call_output)$/
const MODEL_TYPE = /(?:_call|_use|^reasoning|^thinking)$/

/** undefined: the object has the role of what contains it. */
function roleOf({ role, type }: JsonObject): TextSpan['role'] | undefined {
  const kind = asString(type) ?? ''
  if (RESULT_TYPE.test(kind)) return 'tool'
  if (MODEL_TYPE.test(kind)) return 'assistant'
  return ROLES.get(role)
}

function shown(path: readonly Step[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (step !== INSIDE) text += text === '' ? step : `.${step}`
  }
  return text
}

/** Values to write, as a tree of the steps of their paths. */
class Changes {
  #value: unknown = undefined
  readonly #below = new Map<Step, Changes>()

  set(path: readonly Step[], value: unknown): void {
    const [step, ...rest] = path
    if (step === undefined) {
      this.#value = value
      return
    }
    const below = this.#below.get(step) ?? new Changes()
    this.#below.set(step, below)
    below.set(rest, value)
  }

  get isEmpty(): boolean {
    return this.#below.size === 0
  }

  appliedTo(value: unknown): unknown {
    if (this.#value !== undefined) return this.#value
    const inside = this.#below.get(INSIDE)
    if (inside !== undefined) return inside.#appliedWithin(String(value))
    if (Array.isArray(value)) return value.map((item: unknown, index) => this.#member(index, item))
    const members = Object.entries(asObject(value)).map(([name, member]) => [name, this.#member(name, member)] as const)
    return Object.fromEntries(members)
  }

  #member(step: Step, value: unknown): unknown {
    const below = this.#below.get(step)
    return below === undefined ? value : below.appliedTo(value)
  }

  #appliedWithin(text: string): string {
    const json = readJsonText(text)
    // `Reader` read the same text.
    if (json === undefined) throw new Error('not the text of a JSON object')
    return editedText({ ...json, members: asObject(this.appliedTo(json.members)) })
  }
}
