import { describe, expect, it } from 'vitest'
import { loadManifests } from './load.ts'

const BACKEND = `apiVersion: gw.dev/v1alpha1
kind: GwBackend
metadata: { name: a }
spec: { static: { host: h, port: 80 } }
`

function load(...texts: string[]) {
  return loadManifests(texts.map((text, index) => ({ path: `${index}.yaml`, text })))
}

function problems(...texts: string[]): string[] {
  return load(...texts).problems.map(({ file, line, path, message }) => `${file}:${line} ${path}: ${message}`)
}

describe('loadManifests', () => {
  it('returns objects with namespace and defaults', () => {
    const { objects, problems } = load(BACKEND)
    expect(problems).toEqual([])
    expect(objects).toMatchObject([{ kind: 'GwBackend', metadata: { name: 'a', namespace: 'default' } }])
  })

  it('leaves cluster-scoped objects without a namespace', () => {
    const text = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: n }\n'
    expect(load(text).objects[0]?.metadata).toEqual({ name: 'n' })
  })

  it('splits lists, with the positions of their items', () => {
    const item =
      '{ apiVersion: gw.dev/v1alpha1, kind: GwBackend, metadata: { name: X }, spec: { static: { host: h, port: 80 } } }'
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${item.replace('X', 'a')}\n- ${item.replace('X', 'b').replace('80', '0')}\n`
    const loaded = load(list)
    expect(loaded.objects.map(({ metadata }) => metadata.name)).toEqual(['a'])
    expect(loaded.problems).toMatchObject([{ line: 5, path: 'spec.static.port' }])
    expect(loaded.locate({ kind: 'GwBackend', namespace: 'default', name: 'a' }, 'spec')).toMatchObject({ line: 4 })
  })

  it('splits lists of one kind', () => {
    const list = `apiVersion: v1\nkind: SecretList\nitems: [{ apiVersion: v1, kind: Secret, metadata: { name: s } }]\n`
    expect(load(list).objects).toMatchObject([{ kind: 'Secret' }])
  })

  it.each([
    ['is added where a Gateway is of it', 'gw', '', ['gw.dev/controller']],
    ['is that of the files', 'gw', '---\n%class', ['example.com/other']],
    ['is not added for other classes', 'edge', '', []],
  ])('the class of the controller %s', (_, className, more, controllers) => {
    const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web }
spec: { gatewayClassName: ${className}, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`
    const ownClass = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gw }
spec: { controllerName: example.com/other }
`
    const classes = load(gateway + more.replace('%class', ownClass)).objects.filter(
      ({ kind }) => kind === 'GatewayClass',
    )
    expect(classes.map((one) => (one as { spec?: { controllerName?: string } }).spec?.controllerName)).toEqual(
      controllers,
    )
  })

  it('reports documents that are not manifests', () => {
    expect(problems('kind: A\nmetadata: { name: x }')).toEqual([
      '0.yaml:1 apiVersion: apiVersion is missing or not a string',
    ])
    expect(problems('kind: GwPolicy\nmetadata: { name: x }')).toEqual([
      '0.yaml:1 apiVersion: apiVersion is missing or not a string; write apiVersion: gw.dev/v1alpha1',
    ])
    expect(problems('apiVersion: v1\nmetadata: { name: x }')).toEqual([
      '0.yaml:1 kind: kind is missing or not a string',
    ])
    expect(problems('apiVersion: v1\nkind: A\nmetadata: {}')).toEqual([
      '0.yaml:3 metadata.name: metadata.name is missing or not a string',
    ])
    expect(problems('- a')).toEqual(['0.yaml:1 : a manifest must be a mapping with apiVersion, kind and metadata'])
    expect(problems('apiVersion: v1\nkind: List\nitems: [x]')).toEqual([
      '0.yaml:3 : a manifest must be a mapping with apiVersion, kind and metadata',
    ])
  })

  it('reports different objects with the same name, and loads equal ones once', () => {
    expect(problems(BACKEND, BACKEND.replace('80', '81'))).toEqual([
      '1.yaml:3 metadata.name: GwBackend default/a is already defined in 0.yaml:1',
    ])
    const same = load(BACKEND, BACKEND.replace('{ name: a }', '{ name: a, namespace: default }'))
    expect(same.problems).toEqual([])
    expect(same.objects).toHaveLength(1)
    expect(problems(BACKEND, BACKEND.replace('name: a', 'name: a, namespace: b'))).toEqual([])
  })

  it('encodes stringData of Secrets, which overrides data', () => {
    const text =
      'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\ndata: { a: eA==, b: eQ== }\nstringData: { b: z }\n'
    const [secret] = load(text).objects
    expect(secret).toMatchObject({ data: { a: 'eA==', b: Buffer.from('z').toString('base64') } })
    expect(secret).not.toHaveProperty('stringData')
  })

  it('reports several YAML errors of one file and keeps its other documents', () => {
    const loaded = load(`a: 1\na: 2\n---\nb: @open\n---\n${BACKEND}`)
    expect(loaded.problems.map(({ line }) => line)).toEqual([2, 4])
    expect(loaded.objects).toHaveLength(1)
  })

  it('reports unknown kinds of known groups and leaves other kinds alone', () => {
    expect(problems('apiVersion: gw.dev/v1alpha1\nkind: GwFoo\nmetadata: { name: x }')).toEqual([
      '0.yaml:2 kind: unknown kind GwFoo of gw.dev/v1alpha1; known here: GwBackend, GwModel, GwParameters, GwPolicy',
    ])
    expect(problems('apiVersion: gateway.networking.k8s.io/v9\nkind: Gateway\nmetadata: { name: x }')).toEqual([
      '0.yaml:2 kind: unknown kind Gateway of gateway.networking.k8s.io/v9; write apiVersion: gateway.networking.k8s.io/v1',
    ])
    expect(problems('apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoutes\nmetadata: { name: x }')).toEqual([
      '0.yaml:2 kind: unknown kind HTTPRoutes of gateway.networking.k8s.io/v1; did you mean HTTPRoute?',
    ])
    expect(load('apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x }').objects).toHaveLength(1)
  })

  it('has no position for an object that is not in the files', () => {
    expect(load(BACKEND).locate({ kind: 'GwBackend', namespace: 'other', name: 'a' }, 'spec')).toBeUndefined()
  })
})
