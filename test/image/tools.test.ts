// @module-tag full
// The scripts with each container tool, with programs that record their calls: builds, and loading an image into a
// cluster of kind.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '#api/version.ts'
import { TOOLS } from '../../hack/image/build-arguments.ts'
import { type FakeTool, fakeTools, type FakeTools } from './fake-tools.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FAILS = { does: 'exit 1' }
const folder = mkdtempSync(join(tmpdir(), 'gw-tools-'))
const context = join(folder, 'context')
let count = 0

beforeAll(() => {
  mkdirSync(context)
  for (const name of ['Dockerfile', 'base.tar', 'app.tar', 'demo.tar']) writeFileSync(join(context, name), name)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fakes(...tools: readonly (string | FakeTool)[]): FakeTools {
  count += 1
  return fakeTools(join(folder, `bin-${count}`), tools)
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function run(tools: FakeTools, command: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const [program = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: tools.path, HOME: folder, SOURCE_DATE_EPOCH: '1700000000', ...env },
  })
  return { code: status, out: stdout, err: stderr }
}

const images = (tools: FakeTools, ...args: readonly string[]): Ran =>
  run(tools, [process.execPath, 'hack/image/main.ts', '--context', context, ...args])

describe('make images', () => {
  it.each(TOOLS)('with %s: both images, named and dated', (tool) => {
    const tools = fakes(tool)
    const { code, out, err } = images(tools, '--registry', 'registry.example/gw', '--tag', 'v9')
    expect([code, err]).toEqual([0, ''])
    expect(out.trim().split('\n')).toEqual(['registry.example/gw/gw-controller:v9', 'registry.example/gw/gw:v9'])
    const stamp = ['buildah', 'podman'].includes(tool) ? '--timestamp 1700000000 ' : ''
    const labels = (text: string): string => text.replace(/REVISION=\w+/, 'REVISION=x')
    const args = `--build-arg VERSION=${VERSION} --build-arg REVISION=x --build-arg CREATED=2023-11-14T22:13:20.000Z ${context}`
    expect(tools.calls().map(labels)).toEqual([
      `${tool} info`,
      `${tool} build ${stamp}-f ${context}/Dockerfile --target controller -t registry.example/gw/gw-controller:v9 ${args}`,
      `${tool} build ${stamp}-f ${context}/Dockerfile --target proxy -t registry.example/gw/gw:v9 ${args}`,
    ])
  })

  it('uses the first tool that works', () => {
    const tools = fakes({ name: 'docker', ...FAILS }, 'nerdctl', 'podman')
    expect(images(tools).code).toBe(0)
    expect(tools.calls().map((call) => call.split(' ').slice(0, 2).join(' '))).toEqual([
      'docker info',
      'nerdctl info',
      'nerdctl build',
      'nerdctl build',
    ])
  })

  it('uses the selected tool', () => {
    const tools = fakes('docker', 'podman')
    expect(images(tools, '--tool', 'podman', '--demo').code).toBe(0)
    expect(tools.calls().map((call) => call.split(' ')[0])).toEqual(['podman', 'podman', 'podman'])
  })

  it('reports a missing tool, or the error of the tool', () => {
    expect(images(fakes())).toEqual({
      code: 1,
      out: '',
      err: 'images: none of docker, buildah, nerdctl, podman works here\n',
    })
    const broken = fakes({ name: 'docker', does: '[ "$1" = info ] || { echo no space left >&2; exit 3; }' })
    const { code, err } = images(broken)
    expect(code).toBe(1)
    expect(err).toMatch(/images: docker build .*\n?.*no space left/)
  })

  it('names content by its hash', () => {
    const [one, two] = [images(fakes('docker'), '--tag', 'content'), images(fakes('buildah'), '--tag', 'content')]
    expect(one.out).toMatch(/gw:c-[0-9a-f]{12}\n/)
    expect(two.out).toBe(one.out)
  })
})

describe('plain kind', () => {
  const IMAGE = 'gw.dev/gw:v1'
  const NO_IMAGE = { name: 'docker', does: '[ "$1" != image ]' }

  /** With or without an existing cluster. */
  function state(kubeconfig: string): string {
    const place = join(folder, `state-${count}`)
    mkdirSync(place, { recursive: true })
    if (kubeconfig !== '') writeFileSync(join(place, 'kubeconfig'), kubeconfig)
    return place
  }

  const kind = (tools: FakeTools, place: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran =>
    run(tools, ['hack/kind.sh', ...args], { GW_CLUSTER_SCRIPTS: '/nowhere', GW_KIND_STATE: place, ...env })

  it('starts with the requested node image', () => {
    const tools = fakes('kind')
    const place = state('')
    const { code, out } = kind(tools, place, ['up'], { GW_KIND_NODE_IMAGE: 'node:v1', GW_CLUSTER_NAME: 'one' })
    expect([code, out]).toEqual([0, `export KUBECONFIG=${place}/kubeconfig\n`])
    const config = `--config ${place}/config.yaml --kubeconfig ${place}/kubeconfig`
    expect(tools.calls()).toEqual([
      'kind get clusters',
      `kind create cluster --name one ${config} --wait 180s --image node:v1`,
      `kind export kubeconfig -q --name one --kubeconfig ${place}/kubeconfig`,
    ])
  })

  it('loads images of docker directly', () => {
    const tools = fakes('kind', 'docker')
    expect(kind(tools, state('x'), ['load', IMAGE]).code).toBe(0)
    expect(tools.calls()).toEqual([`docker image inspect ${IMAGE}`, `kind load docker-image --name gw ${IMAGE}`])
  })

  it.each([
    ['buildah', (file: string) => `buildah push -q ${IMAGE} docker-archive:${file}:${IMAGE}`],
    ['podman', (file: string) => `podman push -q ${IMAGE} docker-archive:${file}:${IMAGE}`],
    ['nerdctl', (file: string) => `nerdctl save -o ${file} ${IMAGE}`],
  ])('loads images of %s as archives', (tool, saving) => {
    const tools = fakes('kind', NO_IMAGE, tool)
    const place = state('x')
    expect(kind(tools, place, ['load', IMAGE], { GW_CONTAINER_TOOL: tool }).code).toBe(0)
    const file = `${place}/image.tar`
    expect(tools.calls().slice(1)).toEqual([saving(file), `kind load image-archive --name gw ${file}`])
  })

  it('reports which tool to select if docker does not have an image', () => {
    const { code, err } = kind(fakes('kind', NO_IMAGE), state('x'), ['load', IMAGE])
    expect(code).not.toBe(0)
    expect(err).toContain(`docker does not have ${IMAGE}; GW_CONTAINER_TOOL says who built it`)
  })

  it('reports a missing program, and cleans up', () => {
    expect(kind(fakes(), state(''), ['up'])).toMatchObject({ code: 3, err: 'neither /nowhere/up nor kind is here\n' })
    const tools = fakes('kind')
    const place = state('x')
    expect(kind(tools, place, ['down']).code).toBe(0)
    expect(tools.calls()).toEqual([`kind delete cluster --name gw --kubeconfig ${place}/kubeconfig`])
    expect(kind(tools, place, ['env']).code).toBe(1)
  })
})
