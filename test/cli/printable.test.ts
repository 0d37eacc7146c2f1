// Names with control characters or line ends, through the real command: all output is escaped.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { gw } from './gw.ts'
import { firstOf } from '../run/table.ts'

const NAME = 'a\u001b[2J\u202e\nforged.yaml:1:1: all is well'
const KEY = JSON.stringify(`k\u001b[2J\u009b\u202e\nforged`)
// oxlint-disable-next-line no-control-regex -- characters that must not be in the output
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]|^forged/m

const MANIFEST = `
apiVersion: gw.dev/v1alpha1
kind: GwBackend
metadata: { name: b }
spec: { static: { host: a.example, port: 80, ${KEY}: 1 } }
`
const STANDALONE = `gateways: { default: { port: 8080, ${KEY}: 1 } }\nroutes: [{ name: ${KEY} }]\n`
const MODEL = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: g, annotations: { ${KEY}: ${KEY} } }
spec: { gatewayClassName: gw, listeners: [{ name: a, port: 80, protocol: HTTP }] }
---
apiVersion: gw.dev/v1alpha1
kind: GwPolicy
metadata: { name: p }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]
  traffic: { transformation: { request: { set: [{ name: x, value: ${KEY} }] } } }
`

let folder = ''

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'gw-printable-')), NAME)
  mkdirSync(folder, { recursive: true })
})

afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

describe('commands escape control characters and line ends', () => {
  firstOf(1)([
    ['translate to YAML', ['translate'], MODEL],
    ['validate manifests', ['validate'], MANIFEST],
    ['validate a standalone file', ['validate'], STANDALONE],
    ['run a standalone file', ['run'], STANDALONE],
    ['translate to JSON', ['translate', '-o', 'json'], MODEL],
    ['translate a deployment', ['translate', '--deployment'], MODEL],
  ])('%s', async (_, args, text) => {
    const file = join(folder, 'f.yaml')
    writeFileSync(file, text)
    const { stdout, stderr } = await gw(...args, '-f', file)
    expect(stdout + stderr).not.toBe('')
    expect(stdout).not.toMatch(UNSAFE)
    expect(stderr).not.toMatch(UNSAFE)
    for (const document of parseAllDocuments(stdout)) expect(document.errors).toEqual([])
  })

  firstOf(1)([
    ['a path that is not there', ['validate', '-f', `/nowhere/${NAME}`]],
    ['an unknown command', [NAME]],
    ['an unknown flag', ['run', `--${NAME}`]],
    ['an address', ['run', '-f', 'config/samples/quickstart', '--admin-addr', NAME]],
    ['a level', ['proxy', 'log', '--local', '--level', NAME]],
    ['a URL', ['proxy', 'trace', '--local', '--port', '80', '--', NAME]],
    ['a level of the controller', ['controller', 'log', '--set', NAME]],
    ['a dump', ['proxy', 'config', 'all', '--file', `/nowhere/${NAME}`]],
  ])('%s', async (_, args) => {
    const { code, stdout, stderr } = await gw(...args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).not.toMatch(UNSAFE)
  })
})
