// What `make release` prints: what is missing before a version can be published, and the script that publishes it.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextSteps, publishScript, type ReleaseFiles } from '../../hack/release/publish.ts'
import { missingSteps, type ReleaseState } from '../../hack/release/readiness.ts'

const READY: ReleaseState = {
  version: '1.2.3',
  registry: 'registry.example/gw',
  isClean: true,
  isSigned: true,
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- Something.\n',
  keptSchemas: '{}',
  currentSchemas: '{}',
  missingPlatforms: [],
}

const FILES: ReleaseFiles = {
  version: '1.2.3',
  commit: 'abc',
  npmPackage: 'gw-1.2.3.tgz',
  layouts: [
    { folder: 'images/gw', name: 'registry.example/gw/gw', digest: 'sha256:d', tags: ['v1.2.3', 'sha256-d.sig'] },
  ],
  attachments: ['SHA256SUMS', 'install.yaml'],
}

describe('missingSteps', () => {
  it('is empty for a version that can be published', () => expect(missingSteps(READY)).toEqual([]))

  it.each<[Partial<ReleaseState>, string]>([
    [{ isClean: false }, 'Commit the changes of `git status`'],
    [
      { changelog: '## Unreleased\n\n- One.\n- Two.\n\n## 1.2.3\n' },
      'Move the 2 lines of `Unreleased` in CHANGELOG.md under the heading `## 1.2.3`.',
    ],
    [{ changelog: '## Unreleased\n\n## 1.2.30\n' }, 'Add the heading `## 1.2.3` to CHANGELOG.md.'],
    [{ keptSchemas: undefined }, 'Keep the schemas of the CRDs of 1.2.3'],
    [{ keptSchemas: '{"a":1}' }, 'Keep the schemas of the CRDs of 1.2.3'],
    [{ registry: 'gw.dev' }, 'IMAGE_REGISTRY=…'],
    [{ missingPlatforms: ['linux/arm64'] }, 'Make the images of linux/arm64'],
    [{ isSigned: false }, '--key FILE'],
  ])('names %j', (change, expected) => {
    expect(missingSteps({ ...READY, ...change })).toEqual([expect.stringContaining(expected)])
  })
})

describe('nextSteps', () => {
  it('names what is missing first', () => {
    const lines = nextSteps({ ...FILES, folder: '/r', missing: ['Sign.'] })
    expect(lines.slice(0, 3)).toEqual(['/r has version 1.2.3.', 'Not ready to be published. First:', '  - Sign.'])
  })

  it('has nothing but the steps otherwise', () => {
    expect(nextSteps({ ...FILES, folder: '/r', missing: [] })).toEqual([
      '/r has version 1.2.3.',
      '1. Log in: skopeo login registry.example; npm login',
      '2. Run /r/publish.sh, which publishes, with signatures,',
      '     registry.example/gw/gw:v1.2.3 (sha256:d)',
      '     gw-1.2.3.tgz to npm, and the tag v1.2.3 (abc) to origin',
      '3. Attach to the page of the release v1.2.3, with the section 1.2.3 of CHANGELOG.md as its text:',
      '     /r/SHA256SUMS',
      '     /r/install.yaml',
      '4. Verify what is published: docs/contributing/releasing.md#verify-a-download',
    ])
  })
})

describe('publish.sh', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-publish-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** The calls of the programs that it needs; `failing` fails. */
  function run(files: ReleaseFiles, { failing = '', args = [] as readonly string[] } = {}): string[] {
    const bin = join(folder, 'bin')
    const log = join(folder, 'log')
    mkdirSync(bin, { recursive: true })
    writeFileSync(log, '')
    for (const name of ['skopeo', 'npm', 'git']) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>'${log}'\n[ ${name} != '${failing}' ]\n`)
      chmodSync(join(bin, name), 0o755)
    }
    const script = join(folder, 'publish.sh')
    writeFileSync(script, publishScript(files, "/a place/it's"))
    try {
      execFileSync('sh', [script, ...args], { env: { PATH: `${bin}:${process.env['PATH']}` }, stdio: 'pipe' })
    } catch (error) {
      if (failing === '') throw error
    }
    return readFileSync(log, 'utf8').trim().split('\n')
  }

  it('uploads each tag, then the package, then the tag of git', () => {
    const copy = 'skopeo copy --quiet --all --preserve-digests oci:images/gw'
    expect(run(FILES)).toEqual([
      `${copy}:v1.2.3 docker://registry.example/gw/gw:v1.2.3`,
      `${copy}:sha256-d.sig docker://registry.example/gw/gw:sha256-d.sig`,
      'npm publish ./gw-1.2.3.tgz',
      "git -C /a place/it's tag v1.2.3 abc",
      "git -C /a place/it's push origin v1.2.3",
    ])
  })

  it('needs no TLS for a registry on this machine', () => {
    const layouts = FILES.layouts.map((layout) => ({ ...layout, name: '127.0.0.1:5000/gw' }))
    expect(run({ ...FILES, layouts })[0]).toContain('--preserve-digests --dest-tls-verify=false oci:')
  })

  it('uploads only images and charts on request', () => expect(run(FILES, { args: ['images'] })).toHaveLength(2))

  it('stops at a failure', () => expect(run(FILES, { failing: 'skopeo' })).toHaveLength(1))
})
