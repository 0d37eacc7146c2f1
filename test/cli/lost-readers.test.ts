// Readers that close the output: a command that prints ends, one that serves continues.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, ROOT, until } from './gw.ts'
import { firstOf } from '../run/table.ts'

let folder = ''
let gw: GwProcess | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-readers-test-'))
})

afterEach(async () => {
  await gw?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function sh(script: string): ChildProcess {
  return spawn('bash', ['-c', `set -o pipefail; ${script}`], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
}

describe('an output that cannot be written', () => {
  firstOf(1)([['gw validate -f config/samples/quickstart'], ['gw run --help']])('ends %s with code 1', async (call) => {
    const child = sh(`bin/${call} > /dev/full`)
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'gw: cannot write the output: ENOSPC: no space left on device, write\n',
    })
  })
})

describe('the configuration of 5,000 routes', { tags: ['full'] }, () => {
  const ROUTES = 5000
  let admin: string

  beforeEach(async () => {
    const [port, adminPort] = [await freePort(), await freePort()]
    const file = join(folder, 'gateway.yaml')
    const routes = Array.from(
      { length: ROUTES },
      (_, at) => `- { name: r${at}, matches: [{ path: { exact: /r${at} } }], backends: [{ host: "127.0.0.1:1" }] }\n`,
    )
    writeFileSync(file, `gateways: { default: { port: ${port} } }\nroutes:\n${routes.join('')}`)
    admin = `127.0.0.1:${adminPort}`
    gw = new GwProcess(['run', '-f', file, ...ANY_PORTS, `--admin-addr=${admin}`])
    await gw.says('gw: serving')
  })

  it('ends quietly with a reader of its first lines, in every form', async () => {
    for (const form of ['table', 'wide', 'name', 'json', 'yaml']) {
      const child = sh(`bin/gw proxy config all --local --admin-addr ${admin} -o ${form} | head -n 1`)
      let stderr = ''
      child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      const [code] = await once(child, 'close')
      expect({ form, code, stderr }).toEqual({ form, code: 0, stderr: '' })
    }
  })

  it('reaches a slow reader in full', async () => {
    const child = sh(`bin/gw proxy config routes --local --admin-addr ${admin} -o json | (sleep 1; cat)`)
    let stdout = ''
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveLength(ROUTES)
  })
})

describe('a reader that closes the pipe', () => {
  it('ends a command that prints, without a message', async () => {
    // `true` ends long before anything is printed.
    const child = sh('bin/gw translate -f config/samples/quickstart | true')
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  firstOf(1)([['gw --help'], ['gw help run'], ['gw controller log --help'], ['gw --version']])(
    'is the end of %s',
    async (call) => {
      const child = sh(`bin/${call} | true`)
      let stderr = ''
      child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      const [code] = await once(child, 'close')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  it('does not hide the exit code of a wrong call', async () => {
    const child = sh('bin/gw --no-such-flag 2>&1 | true')
    const [code] = await once(child, 'close')
    expect(code).toBe(1)
  })

  it('does not affect gw run', { tags: ['full'] }, async () => {
    const port = await freePort()
    const file = join(folder, 'gateway.yaml')
    const text = (status: number): string =>
      `gateways: { default: { port: ${port} } }\nroutes: [{ policies: { directResponse: { status: ${status} } } }]\n`
    writeFileSync(file, text(201))
    gw = new GwProcess(['run', '-f', file, ...ANY_PORTS])
    await gw.says('gw: serving')
    gw.child.stdout?.destroy()
    gw.child.stderr?.destroy()
    const status = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/`)).status
    expect(await status()).toBe(201)
    for (const next of [202, 203]) {
      writeFileSync(file, text(next))
      await until(`status ${next}`, async () => (await status()) === next)
    }
    writeFileSync(file, 'routes: [')
    writeFileSync(file, text(206))
    await until('status 206', async () => (await status()) === 206)
    expect(gw.child.exitCode).toBe(null)
  })
})
