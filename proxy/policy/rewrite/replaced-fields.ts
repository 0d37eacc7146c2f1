// `replace` of a transformation: a map from an expression becomes the whole header of the message (data-plane
// supplement section 1.10). Framing, the host and pseudo-headers stay as they are.
import { elementOrMissing, keysOf } from '#api/cel/engine/access.ts'
import { isMap } from '#api/cel/engine/types.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import { evaluate, FAILED, textOf } from '../../cel/evaluate.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { isToken } from '../../message/field-name.ts'
import { isFramingField, textValue } from '../../message/header-field.ts'
import type { HeaderList } from '../../message/headers.ts'

/** If the expression fails or gives no map, no field is left: a failing expression never lets a field through. */
export function replaceFields(headers: HeaderList, expression: CelExpression, exchange: Exchange): void {
  const value = evaluate(expression, exchange)
  const fields = value === FAILED || !isMap(value) ? [] : fieldsOf(value)
  for (const name of new Set([...headers].map(([one]) => one))) if (isReplaced(name)) headers.remove(name)
  for (const [name, text] of fields) headers.append(name, text)
}

function isReplaced(name: string): boolean {
  return !isFramingField(name) && name !== 'host'
}

/** A list has one field for each member. Members without a text form are left out, and so are invalid names. */
function fieldsOf(map: unknown): [string, string][] {
  const fields: [string, string][] = []
  for (const key of keysOf(map)) {
    const name = String(key).toLowerCase()
    if (!isToken(name) || !isReplaced(name)) continue
    const member = elementOrMissing(map, key)
    for (const one of Array.isArray(member) ? member : [member]) {
      const text = textOf(one)
      const written = text === undefined ? undefined : textValue(text)
      if (written !== undefined) fields.push([name, written])
    }
  }
  return fields
}
