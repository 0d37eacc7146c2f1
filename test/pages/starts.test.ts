// Commands of pages that start the gateway: each serves the file of its page. Requires bash, curl and htpasswd.
// @module-tag full
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT, gw } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { yamlOf } from './page-commands.ts'
import { layCommand, startInShell } from './shell.ts'
import { commandsFor, RUN_BY } from './tested-pages.ts'

const TEST = 'test/pages/starts.test.ts'
const START_MS = 60_000
const SMALL =
  'binds:\n- port: 8080\n  listeners:\n  - routes:\n    - policies: { directResponse: { status: 200, body: ok } }\n'

/** The files that commands of a page name. */
const FILES: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
  'docs/cli.md': async () => {
    const files = globSync('config/samples/{quickstart/*,standalone/gateways.yaml}', { cwd: ROOT })
    return Object.fromEntries(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
  },
  'docs/llm/model-traits.md': async () => ({
    'gateway.yaml': SMALL,
    'traits.yaml': yamlOf('docs/llm/model-traits.md', 'like:'),
  }),
  'docs/mcp/index.md': async () => ({ 'gateway.yaml': yamlOf('docs/mcp/index.md', 'mcp: {') }),
  'docs/mcp/sign-in.md': async () => ({ 'gateway.yaml': yamlOf('docs/mcp/sign-in.md', 'mcp:') }),
  'docs/migrating.md': async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-migrated-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'config.yaml')
    writeFileSync(file, yamlOf('docs/migrating.md', 'config:'))
    return { 'gw.yaml': (await gw('migrate', 'standalone', file)).stdout }
  },
  'docs/ui.md': async () => ({ 'gw.yaml': SMALL, 'ui.yaml': yamlOf('docs/ui.md', 'UI_USERS') }),
}

/** With ports that are free, the same for the same number. */
async function onFreePorts(text: string): Promise<string> {
  const numbers = new Set([...text.matchAll(/\bport: ?(\d{4,5})\b/g)].map(([, digits = '']) => digits))
  let result = /^mcp:\n(?! +port:)/m.test(text) ? text.replace(/^mcp:\n/m, `mcp:\n  port: ${await freePort()}\n`) : text
  for (const number of numbers) {
    result = result.replaceAll(new RegExp(String.raw`\bport: ?${number}\b`, 'g'), `port: ${await freePort()}`)
  }
  return result
}

const commands = Object.keys(RUN_BY).flatMap((page) => commandsFor(TEST, page))

it('all pages with such commands have files', () => {
  expect([...new Set(commands.map(({ page }) => page))].toSorted()).toEqual(Object.keys(FILES).toSorted())
})

it.each(commands)('$page: $command', { timeout: START_MS }, async ({ page, command }) => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-starts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  layCommand(folder)
  for (const [name, text] of Object.entries((await FILES[page]?.()) ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), await onFreePorts(text))
  }
  const port = command.includes('--provider') ? ` --port ${await freePort()}` : ''
  const gateway = startInShell([`${command}${port}`], folder, { OPENAI_API_KEY: 'sk-of-a-test' })
  onTestFinished(() => gateway.stop())
  await gateway.says('gw: serving')
  if (command.includes('UI_USERS')) {
    const [, served = ''] = /port: (\d+)/.exec(readFileSync(join(folder, 'ui.yaml'), 'utf8')) ?? []
    const authorization = `Basic ${Buffer.from('admin:a long password').toString('base64')}`
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`http://127.0.0.1:${served}/ui`, { headers })).status
    expect([await statusOf({}), await statusOf({ authorization })]).toEqual([401, 200])
  }
})
