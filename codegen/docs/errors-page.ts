// docs/reference/errors.md: every failure a client of the proxy can see, from the proxy's one register of them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { byCodePoint } from '../names.ts'
import type { Output } from '../output.ts'
import { cell, code, MARKDOWN_BANNER } from './markdown.ts'

interface Failure {
  readonly status: number
  readonly reason: string
  readonly text: string
  readonly doc: string
}

export async function errorsPage(root: string, output: Output): Promise<void> {
  // Data of another folder: read at run time, so that the generators do not depend on the proxy's types.
  const module = (await import(pathToFileURL(join(root, 'proxy/exchange/errors.ts')).href)) as {
    FAILURES: Record<string, Failure>
  }
  const failures = Object.entries(module.FAILURES).sort(([codeA, a], [codeB, b]) => {
    return a.status - b.status || byCodePoint(codeA, codeB)
  })
  const rows = failures.map(([name, { status, reason, text, doc }]) => {
    return `| ${[String(status), code(name), text === '' ? '' : code(text), code(reason), doc].map(cell).join(' | ')} |`
  })
  const lines = [
    MARKDOWN_BANNER,
    '',
    '# Errors of the proxy',
    '',
    'Responses that the proxy makes itself. The body is plain text; LLM clients (see [formats](../model-formats.md#errors-of-the-gateway))',
    'and MCP clients get the same text in the shape of their protocol, and gRPC clients as a status. Where the gateway knows why, a colon and the cause follow, in words of its',
    'own: addresses and names of the inside are in the `error` of the access log alone. The reason is the `reason` of the',
    'access log and of the metrics.',
    '',
    '| Status | Code | Body | Reason | When and what to do |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ]
  output.add('docs/reference/errors.md', lines.join('\n'))
}
