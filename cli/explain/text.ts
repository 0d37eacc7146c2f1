// An explanation for people: the response, then one line for each fact. Names and texts of requests reach the terminal,
// so control characters in them are escaped. Pure.
import { STATUS_CODES } from 'node:http'
import { printable } from '#api/printable.ts'
import type { Decision, Explanation } from './explanation.ts'

const LABEL_COLUMNS = 12

/** Without a newline at the end. */
export function explanationText({ status, error, milliseconds, ...rest }: Explanation): string {
  const { listener, route, decision, before, cure, meaning } = rest
  const name = status === undefined ? 'no complete response' : `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  const head = `${name}${error === undefined ? '' : `: ${error}`} (${milliseconds.toFixed(1)} ms)`
  return [
    printable(head),
    ...fact('listener', listener === undefined ? [] : [listener]),
    ...fact('route', route === undefined ? [] : [route]),
    ...fact('decided by', decisionLines(decision)),
    ...fact('before it', before),
    ...fact('to pass', cure === undefined ? [] : [cure]),
    ...fact('meaning', meaning === undefined ? [] : [meaning]),
  ].join('\n')
}

function decisionLines({ name, sources, details }: Decision): string[] {
  const places = sources.map(({ object, field }) => (field === undefined ? object : `${object} (${field})`))
  return [name, ...places, ...details]
}

function fact(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(LABEL_COLUMNS)}${printable(line)}`)
}
