import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { manPage } from './man-page.ts'
import { buildProgram } from './program.ts'

const PAGE = readFileSync(new URL('../docs/man/gw.1', import.meta.url), 'utf8')

describe('the manual page', () => {
  it('has the help of all commands: node hack/update-man-page.ts writes it', () => {
    expect(PAGE).toBe(manPage(buildProgram(() => undefined)))
  })

  it('names each command and flag, in the format of man', () => {
    expect(PAGE).toMatch(/^\.TH GW 1 "" "gw [^"]+" "Gw"\n\.SH NAME\ngw \\- Gw: a gateway/)
    for (const name of ['GW RUN', 'GW PROXY CONFIG BACKENDS', 'GW MCP CHECK', 'GW MIGRATE INGRESS']) {
      expect(PAGE).toContain(`\n.SH ${name}\n`)
    }
    expect(PAGE).toContain('\\-\\-all\\-namespaces')
    expect(PAGE).not.toMatch(/^[.'](?!TH|SH|nf|fi|TP|B )/m)
  })
})
