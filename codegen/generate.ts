// Runs every generator over one repository. Writes nothing itself: the files are collected in the output.
import { join } from 'node:path'
import { adminTypes } from './admin/admin.ts'
import { crdFile, printCrd } from './crd/crd.ts'
import { errorsPage } from './docs/errors-page.ts'
import { kindPages } from './docs/kind-page.ts'
import { loadGatewayKinds } from './gateway/crds.ts'
import { gatewayFields } from './gateway/fields.ts'
import { gatewayTypes } from './gateway/types.ts'
import { renderedConfig } from './ir/ir.ts'
import { type Kind, kindFiles, loadKind } from './kinds/kind.ts'
import { kindTypes } from './kinds/types.ts'
import type { Output } from './output.ts'
import { SchemaFiles } from './schema/load.ts'
import { SchemaError } from './schema/schema-error.ts'
import { gatewayValidators, kindValidators, validatorRegister } from './validators/validators.ts'

/** @returns what is wrong with schema files; a broken file stops its kind only */
export async function generate(root: string, output: Output): Promise<string[]> {
  const gatewayKinds = await loadGatewayKinds(root)
  const { kinds, failures } = readKinds(root)
  await generateKinds(kinds, output)
  await gatewayTypes(gatewayKinds, output)
  gatewayFields(gatewayKinds, output)
  gatewayValidators(gatewayKinds, output)
  validatorRegister(kinds, gatewayKinds, output)
  await renderedConfig(root, output)
  await adminTypes(root, output)
  await errorsPage(root, output)
  return failures
}

/** What comes from the schemas of our own kinds. */
export async function generateKinds(kinds: readonly Kind[], output: Output): Promise<void> {
  for (const kind of kinds) output.add(crdFile(kind), printCrd(kind))
  await kindTypes(kinds, output)
  kindValidators(kinds, output)
  kindPages(kinds, output)
}

export function readKinds(root: string): { kinds: Kind[]; failures: string[] } {
  const files = new SchemaFiles(root)
  const kinds: Kind[] = []
  const failures: string[] = []
  for (const file of kindFiles(join(root, 'api/v1alpha1/schema'))) {
    try {
      kinds.push(loadKind(files, file))
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      failures.push(error.message)
    }
  }
  return { kinds, failures }
}
