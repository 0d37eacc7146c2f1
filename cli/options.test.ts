import { describe, expect, it } from 'vitest'
import type { StandaloneSettings } from '#proxy/config/standalone/settings.ts'
import { optionsOf } from './options.ts'

const FLAGS = { file: 'f', listenAddress: '127.0.0.1', accessLog: true }
const NONE: StandaloneSettings = {
  admin: undefined,
  stats: undefined,
  readiness: undefined,
  workers: undefined,
  logLevel: undefined,
  logFormat: undefined,
  dnsLookupFamily: undefined,
  sessionKeys: undefined,
  mcpSessionTtlMs: undefined,
  connections: undefined,
  environment: {},
}

describe('optionsOf', () => {
  it('serves on loopback by default', () => {
    expect(optionsOf(FLAGS, undefined, {})).toEqual({
      listenAddress: '127.0.0.1',
      admin: { host: 'localhost', port: 15_000 },
      stats: { host: 'localhost', port: 15_020 },
      readiness: { host: 'localhost', port: 15_021 },
    })
  })

  it('prefers flags to the environment, and the environment to the file', () => {
    const settings = {
      ...NONE,
      admin: { host: 'file', port: 1 },
      workers: 2,
      logLevel: 'warn',
      dnsLookupFamily: 'V6_ONLY' as const,
      sessionKeys: [new Uint8Array(32)],
    }
    expect(optionsOf(FLAGS, settings, {})).toMatchObject({
      admin: { host: 'file' },
      workers: 2,
      logLevel: 'warn',
      dnsLookupFamily: 'V6_ONLY',
    })
    const environment = {
      GW_ADMIN_ADDR: 'x:1',
      WORKER_THREADS: '4',
      LOG: 'debug',
      SESSION_KEY: '00',
      GW_DNS_LOOKUP_FAMILY: 'ALL',
    }
    const fromEnvironment = optionsOf(FLAGS, settings, environment)
    for (const name of ['admin', 'workers', 'logLevel', 'dnsLookupFamily', 'sessionKeys'])
      expect(fromEnvironment).toHaveProperty(name, undefined)
    const flags = { ...FLAGS, adminAddr: '[::1]:7', workers: 3, logLevel: 'error' }
    // Without the environment too: a variable alone already removes the value of the file.
    for (const each of [environment, {}]) {
      expect(optionsOf(flags, settings, each)).toMatchObject({
        admin: { host: '::1', port: 7 },
        workers: 3,
        logLevel: 'error',
      })
    }
  })

  it('leaves the access log to the environment unless it is switched off', () => {
    expect(optionsOf(FLAGS, NONE, {})).toHaveProperty('accessLog', undefined)
    expect(optionsOf({ ...FLAGS, accessLog: false }, NONE, {})).toHaveProperty('accessLog', false)
  })

  it.each(['x', ':1', 'h:', 'h:65536', 'h:1:2', '[::1]'])('rejects the address %s', (adminAddr) => {
    expect(optionsOf({ ...FLAGS, adminAddr }, NONE, {})).toEqual({
      problem: `--admin-addr ${adminAddr}: must be host:port`,
    })
  })

  it('lists the valid levels for an invalid one', () => {
    expect(optionsOf({ ...FLAGS, logLevel: 'info,otlp=loud' }, NONE, {})).toEqual({
      problem: '--log-level: "otlp=loud" is not a log level; levels are off, error, warn, info, debug, trace',
    })
  })
})
