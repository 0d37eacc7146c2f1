// Functions of a standalone file in a process of gw: its rules, access log, traces and evaluations, and live reload.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from '#test/ports.ts'
import { ANY_PORTS, gw, GwProcess, until } from './gw.ts'

const SAMPLE = readFileSync(new URL('../../config/samples/standalone/functions.yaml', import.meta.url), 'utf8')

let folder = ''
let running: GwProcess | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-functions-test-'))
})

afterEach(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const askAs = (port: number, tenant: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-tenant': tenant } })

it('rules and the access log call them, and an edit of the functions alone takes effect', async () => {
  const [port, admin] = [await freePort(), await freePort()]
  const path = join(folder, 'gw.yaml')
  const text = SAMPLE.replace('port: 8080', `port: ${port}`)
  writeFileSync(path, text)
  const flags = ANY_PORTS.filter((flag) => !flag.startsWith('--admin'))
  running = new GwProcess(['run', '-f', path, ...flags, `--admin-addr=127.0.0.1:${admin}`])
  await running.says('gw: serving')

  expect(await (await askAs(port, 'core;eu')).text()).toBe('hello core')
  expect((await askAs(port, 'other')).status).toBe(403)
  const log = (): string => `${running?.stdout}${running?.stderr}`
  await until('the log has the field', () => /tenant"?[=:]"?core/.test(log()) && /tenant"?[=:]"?other/.test(log()), log)

  writeFileSync(path, text.replace('this in names', '!(this in names)'))
  await until('the rule is the new one', async () => (await askAs(port, 'other')).status === 200)
  expect((await askAs(port, 'core')).status).toBe(403)

  const body = JSON.stringify({ expression: '"core".isOneOf("core")', variables: {} })
  const evaluated = await fetch(`http://127.0.0.1:${admin}/debug/cel`, { method: 'POST', body })
  expect(await evaluated.json()).toMatchObject({ value: false })
  const trace = await fetch(
    `http://127.0.0.1:${admin}/debug/trace?expression=${encodeURIComponent('tennant() == "x"')}`,
  )
  expect([trace.status, await trace.text()]).toEqual([400, expect.stringContaining('undeclared function tennant()')])
  const ended = new AbortController()
  const watched = await fetch(
    `http://127.0.0.1:${admin}/debug/trace?expression=${encodeURIComponent('tenant() == "x"')}`,
    {
      signal: ended.signal,
    },
  )
  expect(watched.status).toBe(200)
  ended.abort()

  writeFileSync(path, text.replace('tenant() {', 'size() {'))
  await running.says('the last valid configuration stays active')
  expect(running.stderr).toContain(
    `${path}:3:3: error: config.customFunctions: is not valid: size is the name of a built-in`,
  )
  expect((await askAs(port, 'other')).status).toBe(200)
})

it('gw validate names the place of a mistake in them', async () => {
  const path = join(folder, 'gw.yaml')
  writeFileSync(path, SAMPLE)
  expect(await gw('validate', '-f', path)).toMatchObject({ code: 0 })
  writeFileSync(path, SAMPLE.replace('this in names', 'this.isOneOf(names)'))
  const { code, stdout, stderr } = await gw('validate', '-f', path)
  expect(code).not.toBe(0)
  expect(`${stdout}${stderr}`).toMatch(
    /gw\.yaml:3:3: .*customFunctions: is not valid: .*calls itself \(line 3, column 1 of/,
  )
})
