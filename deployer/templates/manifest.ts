// Turns a base manifest into an object. Values go through the helper `yaml`, which quotes them: text of users can close
// no quote and begin no line. What parameters set is applied to the object later, never to the text.
import Handlebars from 'handlebars'
import { parse } from 'yaml'
import { isJsonObject, type JsonObject } from '../kube-object.ts'

const engine = Handlebars.create()
// JSON is YAML; so is a number, a list or a map in it.
engine.registerHelper('yaml', (value: unknown) =>
  JSON.stringify(value ?? null).replaceAll(/[\u007F-\u009F\u2028\u2029\uFEFF]/g, escaped),
)

export type Manifest<T> = (values: T) => JsonObject

/** Compiled once, on first use. */
export function manifest<T>(template: string): Manifest<T> {
  const render = engine.compile<T>(template, {
    noEscape: true,
    strict: true,
    knownHelpersOnly: true,
    knownHelpers: { yaml: true },
  })
  return (values) => {
    const object: unknown = parse(render(values))
    if (!isJsonObject(object)) throw new Error('a base manifest is no map')
    return object
  }
}

/** Characters that YAML does not allow in a scalar as they are, and JSON does. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
