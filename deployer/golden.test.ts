// Runs testdata/<case>.in.yaml: GatewayClass, Gateway, ListenerSets, GwParameters and a ConfigMap of the mesh in, the
// rendered objects and problems out. Inputs pass the schema first, outputs the models of Kubernetes.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareGolden, goldenFolder, readGolden, removeOrphans } from '#test/golden.ts'
import { schemaProblems, testDeployment, TEST_OPTIONS } from './input.testing.ts'
import { modelProblems } from './models.testing.ts'

const ROOT = join(import.meta.dirname, 'testdata')

const folder = goldenFolder(ROOT)

describe('goldens', () => {
  it('has no output without an input', () => {
    expect(removeOrphans(ROOT, folder)).toEqual([])
  })

  it.each(folder.cases.map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
    const { options, documents } = readGolden(golden.inputPath, TEST_OPTIONS)
    expect(documents.flatMap(schemaProblems)).toEqual([])
    const result = testDeployment(documents, options)
    expect(result.objects.flatMap(modelProblems)).toEqual([])
    const problems = result.problems.map(({ object, ...problem }) => ({
      object: `${object.kind} ${object.namespace}/${object.name}`,
      ...problem,
    }))
    const { expected, actual } = compareGolden(golden, { objects: result.objects, problems })
    expect(actual).toBe(expected)
  })
})
