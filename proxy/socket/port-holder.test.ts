// Names of programs as people know them, not of their threads.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { portHolder } from './port-holder.ts'

const SERVER = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1' }, function () {
  console.log(this.address().port)
})`
const folder = mkdtempSync(join(tmpdir(), 'gw-port-holder-'))

afterAll(() => rmSync(folder, { recursive: true }))

describe.skipIf(process.platform !== 'linux')('portHolder', () => {
  const script = join(folder, 'shop-server.js')
  writeFileSync(script, SERVER)
  const program = join(folder, 'nginx')
  copyFileSync(process.execPath, program)
  const own = join(folder, 'gw.mjs')
  writeFileSync(
    own,
    `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${SERVER}`,
  )

  it.each([
    ['a program of its own', program, ['-e', SERVER], 'nginx'],
    ['a script of an interpreter', process.execPath, [script, '--port', '0'], 'node shop-server.js'],
    ['another gw', process.execPath, [own], 'gw'],
    ['code on the command line', process.execPath, ['-e', SERVER], 'node'],
  ])('names %s', async (_, command, args, name) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = await once(child.stdout, 'data')
      expect(await portHolder(Number(String(line)))).toBe(`${name} (pid ${child.pid})`)
    } finally {
      child.kill()
      await once(child, 'close')
    }
  })
})
