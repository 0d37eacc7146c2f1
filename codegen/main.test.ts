// The command in a clone that lacks something: one line that names it and the command that fetches it, never a stack.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

let clone = ''

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'gw-clone-'))
  cpSync(join(ROOT, 'codegen'), join(clone, 'codegen'), {
    recursive: true,
    filter: (path) => !/node_modules/.test(path),
  })
  cpSync(join(ROOT, 'api/group.ts'), join(clone, 'api/group.ts'))
  cpSync(join(ROOT, 'package.json'), join(clone, 'package.json'))
})

afterEach(() => rmSync(clone, { recursive: true }))

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(clone, 'codegen/main.ts'), ...args], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe.each([['generate'], ['verify', '--verify']])('%s', (_, ...args) => {
  it('names the command that installs dependencies', () => {
    expect(run(...args)).toEqual({ status: 1, stdout: '', stderr: 'node_modules is missing: run `make install`\n' })
  })

  it('names the command that fetches the CRDs of the Gateway API', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    symlinkSync(join(ROOT, 'codegen/node_modules'), join(clone, 'codegen/node_modules'))
    expect(run(...args)).toEqual({
      status: 1,
      stdout: '',
      stderr:
        '.cache/gateway-api/experimental with the CRDs of the Gateway API is missing: run `hack/update-gateway-api.sh`\n',
    })
  })
})

describe('hack/update-gateway-api.sh', () => {
  const script = (path: string): { status: number | null; stderr: string } => {
    cpSync(join(ROOT, 'hack/update-gateway-api.sh'), join(clone, 'hack/update-gateway-api.sh'))
    // With the tools of the system but without Go, or with one that fails.
    const tools = join(clone, 'tools')
    mkdirSync(tools)
    for (const tool of ['bash', 'dirname', 'mkdir', 'mktemp', 'rm', 'sed'])
      symlinkSync(toolPath(tool), join(tools, tool))
    if (path !== '') writeFileSync(join(tools, 'go'), path, { mode: 0o755 })
    const options = { encoding: 'utf8', env: { ...process.env, PATH: tools } } as const
    const { status, stderr } = spawnSync(toolPath('bash'), [join(clone, 'hack/update-gateway-api.sh')], options)
    return { status, stderr }
  }

  it('says that it needs Go', () => {
    const { status, stderr } = script('')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^hack\/update-gateway-api\.sh: go is missing\. .*: install Go\n$/)
  })

  it('reports why Go cannot download the module', { tags: ['full'] }, () => {
    const go =
      '#!/bin/bash\n[ "$1" = env ] && { echo off; exit; }\nprintf \'{\\n\\t"Error": "no such host"\\n}\\n\'\nexit 1\n'
    const { status, stderr } = script(go)
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /cannot download sigs\.k8s\.io\/gateway-api@v[\d.]+: no such host\nCheck the network and GOPROXY \(off\)\n$/,
    )
  })
})

function toolPath(name: string): string {
  return spawnSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
}
