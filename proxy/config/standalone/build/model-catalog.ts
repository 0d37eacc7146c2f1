// `config.modelCatalog`: the sources of the model catalog, in their order.
import type { CatalogSource } from '../../../llm/cost/offered-catalog.ts'
import { pathTo } from '../field-path.ts'
import { catalogMistakes, parseCatalog } from '../model-catalog.ts'
import type { ConfigFields } from '../schema/file.ts'
import type { BuildContext } from './context.ts'

export function catalogSources(config: ConfigFields | undefined, context: BuildContext): CatalogSource[] {
  return (config?.modelCatalog ?? []).flatMap(({ file, inline }, index) => {
    const path = pathTo('config', 'modelCatalog', index)
    if (inline !== undefined) return [{ name: `${path}.inline`, catalog: inline }]
    return file === undefined ? [] : fromFile(file, `${path}.file`, context)
  })
}

function fromFile(file: string, path: string, context: BuildContext): CatalogSource[] {
  const text = context.readFile(path, file)
  if (text === undefined) return []
  const parsed = parseCatalog(text)
  if ('catalog' in parsed) return [{ name: file, catalog: parsed.catalog }]
  for (const mistake of catalogMistakes(file, parsed.problems)) context.error(path, mistake)
  return []
}
