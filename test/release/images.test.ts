// Images of a release without a container tool: what images/Dockerfile says, and OCI image layouts with equal digests
// for equal content.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gunzipSync } from 'node:zlib'
import { readDockerfile } from '../../hack/release/dockerfile.ts'
import { OciLayout, writeImage } from '../../hack/release/oci-layout.ts'

const DOCKERFILE = readFileSync(join(import.meta.dirname, '../../images/Dockerfile'), 'utf8')
const ARGS = { VERSION: '1.2.3', REVISION: 'abc', CREATED: '2026-01-01T00:00:00.000Z' }
const NAMED = { tag: 'v1.2.3', created: ARGS.CREATED }

const folder = mkdtempSync(join(tmpdir(), 'gw-oci-'))
const context = join(folder, 'context')

beforeAll(() => {
  mkdirSync(context)
  for (const name of ['base', 'app', 'compiled']) {
    writeFileSync(join(folder, `${name}.txt`), name)
    execFileSync('tar', ['-cf', join(context, `${name}.tar`), '-C', folder, `${name}.txt`])
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('readDockerfile', () => {
  it('has the configuration of each image', () => {
    const controller = readDockerfile(DOCKERFILE, 'controller', ARGS)
    expect(controller).toMatchObject({
      layers: ['base.tar', 'app.tar', 'compiled.tar'],
      user: '10101:10101',
      workingDir: '/app',
      cmd: ['controller'],
    })
    expect(controller.entrypoint.at(-1)).toBe('/app/gw.js')
    expect(controller.env).toEqual(
      expect.arrayContaining(['NODE_ENV=production', 'GW_BUILD_COMMIT=abc', 'NODE_OPTIONS=--max-semi-space-size=4']),
    )
    expect(controller.labels).toMatchObject({
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.title': 'gw-controller',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    })
    expect(readDockerfile(DOCKERFILE, 'proxy', ARGS).env).toContain('NODE_OPTIONS=--max-semi-space-size=8')
  })

  it('rejects what it does not know', () => {
    expect(() => readDockerfile('FROM scratch AS a\nRUN make\n', 'a', {})).toThrow('unknown instruction RUN')
    expect(() => readDockerfile('FROM other AS a\n', 'a', {})).toThrow('no stage other')
    expect(() => readDockerfile('FROM scratch AS a\n', 'b', {})).toThrow('no stage b')
  })
})

describe('writeImage', () => {
  const write = (name: string, config = readDockerfile(DOCKERFILE, 'proxy', ARGS)): string =>
    writeImage(
      new OciLayout(join(folder, name)),
      ['linux/amd64', 'linux/arm64'].map((platform) => ({ platform, context, config })),
      NAMED,
    ).digest
  const blob = (name: string, digest: string): Buffer =>
    readFileSync(join(folder, name, 'blobs', digest.replace(':', '/')))

  it('names each blob by its digest', () => {
    write('digests')
    for (const name of readdirSync(join(folder, 'digests/blobs/sha256'))) {
      const content = blob('digests', `sha256:${name}`)
      expect(createHash('sha256').update(content).digest('hex')).toBe(name)
    }
  })

  it('has an index of all platforms, with layers that are the archives', () => {
    const digest = write('content')
    const { manifests } = JSON.parse(readFileSync(join(folder, 'content/index.json'), 'utf8'))
    expect(manifests).toMatchObject([{ digest, annotations: { 'org.opencontainers.image.ref.name': 'v1.2.3' } }])
    const index = JSON.parse(blob('content', digest).toString())
    expect(index.manifests.map(({ platform }: { platform: unknown }) => platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'linux', architecture: 'arm64' },
    ])
    const manifest = JSON.parse(blob('content', index.manifests[1].digest).toString())
    const archives = ['base', 'app', 'compiled'].map((name) => readFileSync(join(context, `${name}.tar`)))
    const layers = manifest.layers.map((layer: { digest: string }) => gunzipSync(blob('content', layer.digest)))
    expect(layers).toEqual(archives)
    const image = JSON.parse(blob('content', manifest.config.digest).toString())
    expect(image).toMatchObject({ architecture: 'arm64', config: { User: '10101:10101', Cmd: ['--help'] } })
    expect(image.rootfs.diff_ids).toEqual(
      archives.map((content) => `sha256:${createHash('sha256').update(content).digest('hex')}`),
    )
  })

  it('has equal digests for equal content, and another one for another setting', () => {
    expect(write('again')).toBe(write('once'))
    expect(write('other', { ...readDockerfile(DOCKERFILE, 'proxy', ARGS), user: '0' })).not.toBe(write('once'))
  })
})
