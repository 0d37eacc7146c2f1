import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { StartError, probePort } from './start-error.ts'
import { freePort } from '../runtime/config.testing.ts'

describe('StartError', () => {
  it.each([
    ['admin server', 'choose another port with ADMIN_ADDR'],
    ['metrics server', 'choose another port with STATS_ADDR'],
    ['readiness server', 'choose another port with READINESS_ADDR'],
    ['listener (bind bind/80)', 'choose another port'],
  ])('names what gives the %s another port', (what, cure) => {
    const { message } = new StartError({ what, host: '::1', port: 1, code: 'EADDRINUSE', holder: undefined })
    expect(message).toBe(
      `${what} cannot listen on ::1 port 1: the port is in use by another process; stop it or ${cure}`,
    )
  })
})

describe('probePort', () => {
  it('leaves a free port free', async () => {
    const place = { what: 'listener', host: '127.0.0.1', port: await freePort() }
    await probePort(place)
    await expect(probePort(place)).resolves.toBeUndefined()
  })

  it('names the process that holds the port', async () => {
    const script = `
      const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', reusePort: true }, () =>
        console.log(server.address().port))`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = await once(child.stdout, 'data')
      const port = Number(String(line))
      const failure = await probePort({ what: 'listener', host: '127.0.0.1', port }).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(StartError)
      expect(failure).toMatchObject({ code: 'EADDRINUSE', port })
      if (process.platform === 'linux') {
        expect(String(failure)).toMatch(
          new RegExp(
            `listener cannot listen on 127.0.0.1 port ${port}: the port is in use by node \\(pid ${child.pid}\\); stop it`,
          ),
        )
      }
    } finally {
      child.kill()
    }
  })

  it('explains other failures', async () => {
    await expect(probePort({ what: 'listener', host: '192.0.2.1', port: await freePort() })).rejects.toThrow(
      'the address does not belong to this machine',
    )
  })
})
