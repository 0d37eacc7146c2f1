// Turns a base manifest into an object. The helper `yaml` puts a mark for each value into the text, and the value into
// the object that the text is parsed to: no text of users is ever YAML, so it closes no quote and begins no line.
// What parameters set is applied to the object later.
import Handlebars from 'handlebars'
import { parse } from 'yaml'
import { isJsonObject, type Json, jsonCopy, type JsonObject } from '../kube-object.ts'

const engine = Handlebars.create()
/** Of the private use area; base manifests hold none. */
const MARK = '\uE000'

engine.registerHelper('yaml', (value: unknown, options: { data: { values: unknown[] } }) => {
  const { values } = options.data
  values.push(value)
  return `"${MARK}${values.length - 1}"`
})

export type Manifest<T> = (values: T) => JsonObject

/** Texts differ only in what is left out or repeated. */
const PARSED_MAX = 128

/** Compiled once, on first use, and parsed once for each text. */
export function manifest<T>(template: string): Manifest<T> {
  const render = engine.compile<T>(template, {
    noEscape: true,
    strict: true,
    knownHelpersOnly: true,
    knownHelpers: { yaml: true },
  })
  const parsed = new Map<string, Json>()
  return (given) => {
    const values: unknown[] = []
    const text = render(given, { data: { values } })
    const skeleton = parsed.get(text) ?? parse(text)
    if (parsed.size >= PARSED_MAX) parsed.clear()
    parsed.set(text, skeleton)
    const object = filled(skeleton, values)
    if (!isJsonObject(object)) throw new Error('a base manifest is not a map')
    return object
  }
}

function filled(skeleton: Json, values: readonly unknown[]): Json {
  if (typeof skeleton === 'string') return skeleton.startsWith(MARK) ? jsonCopy(valueOf(skeleton, values)) : skeleton
  if (Array.isArray(skeleton)) return skeleton.map((item) => filled(item, values))
  if (!isJsonObject(skeleton)) return skeleton
  return Object.fromEntries(
    Object.entries(skeleton).map(([key, item]) => [
      key.startsWith(MARK) ? String(valueOf(key, values)) : key,
      filled(item, values),
    ]),
  )
}

function valueOf(mark: string, values: readonly unknown[]): unknown {
  return values[Number(mark.slice(MARK.length))]
}
