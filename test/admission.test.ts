// The examples of admission policies are valid Kubernetes objects, and their bindings name them.
// test/e2e/50-tenants.test.ts checks what they reject in a cluster.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ValidatingAdmissionPolicy } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy'
import { ValidatingAdmissionPolicyBinding } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const FOLDER = join(import.meta.dirname, '../config/admission')

interface Admission {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly policyName?: string; readonly validations?: readonly unknown[] }
}

const files = globSync('*.yaml', { cwd: FOLDER }).filter((file) => file !== 'kustomization.yaml')
const documentsOf = (file: string): Admission[] =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document): Admission => document.toJS())

describe('config/admission', () => {
  it('lists every file', () => {
    const { resources } = parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8'))
    expect(resources.toSorted()).toEqual(files.toSorted())
  })

  it.each(files)('%s has a policy and its binding', (file) => {
    const [policy, binding, ...others] = documentsOf(file)
    expect(others).toEqual([])
    // The models validate their input at run time.
    new ValidatingAdmissionPolicy(policy as never).validate()
    new ValidatingAdmissionPolicyBinding(binding as never).validate()
    expect(binding?.spec.policyName).toBe(policy?.metadata.name)
    expect(policy?.spec.validations?.length).toBeGreaterThan(0)
  })
})
