// Types of the admin HTTP API from api/admin/openapi.yaml. The only place that knows openapi-typescript.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { parse } from 'yaml'
import type { Output } from '../output.ts'
import { BANNER } from '../types/print.ts'

export async function adminTypes(root: string, output: Output): Promise<void> {
  // openapi-typescript checks the document itself.
  const document = parse(readFileSync(join(root, 'api/admin/openapi.yaml'), 'utf8')) as OpenAPI3
  const nodes = await openapiTS(document, { alphabetize: false, emptyObjectsUnknown: true })
  const text = astToString(nodes).replace(/^\/\*\*\n \* This file was auto-generated[\s\S]*?\*\/\n/, '')
  output.add('api/admin/types.gen.ts', `${BANNER}\n${text}`)
}
