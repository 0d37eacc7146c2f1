// Arguments of a tool call for formats that have them as an object. Models write invalid JSON at times, and a client
// sends it back with the history for ever: it is kept as the text of one member.
import { isRecord } from '#api/json.ts'
import { asString, parseExactObject, type JsonObject } from '../json.ts'

const INVALID_JSON = 'invalid_json'

/** `argumentsText`: empty stands for `{}`. */
export function toolInput(argumentsText: string): JsonObject {
  if (argumentsText.trim() === '') return {}
  return parseExactObject(argumentsText) ?? { [INVALID_JSON]: argumentsText }
}

/** Some providers send an object in place of its text. Empty: no arguments. */
export function receivedArguments(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : (asString(value) ?? '')
}

/** The text that `toolInput` made `input` of. */
export function argumentsText(input: JsonObject): string {
  const { [INVALID_JSON]: text, ...others } = input
  return typeof text === 'string' && Object.keys(others).length === 0 ? text : JSON.stringify(input)
}
