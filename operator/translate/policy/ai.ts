// backend.ai: edits of requests to models, prompts, guards and cache marks.
import type { AIPolicy, BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendAI } from '#api/v1alpha1/shared.gen.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { renderPromptGuard } from './prompt-guard.ts'

export const ai: FieldTranslator<BackendAI, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const rendered = render(value, context)
    return Object.keys(rendered).length === 0 ? [] : [{ suffix: 'ai', payload: { ai: rendered } }]
  },
}

function render(value: BackendAI, context: FieldContext): AIPolicy {
  const { defaults, overrides, transformations, prompt, promptGuard, promptCaching, modelAliases, routes } = value
  for (const [index, { expression }] of (transformations ?? []).entries()) {
    checkExpression(expression, `${context.path}.transformations[${index}].expression`, { ...context, moment: 'model' })
  }
  return {
    ...(defaults !== undefined && { defaults: [...defaults] }),
    ...(overrides !== undefined && { overrides: [...overrides] }),
    ...(transformations !== undefined && {
      transformations: transformations.map(({ field, expression }) => ({ name: field, expression })),
    }),
    ...(prompt !== undefined && { prompt }),
    ...(promptGuard !== undefined && {
      promptGuard: renderPromptGuard(promptGuard, `${context.path}.promptGuard`, context),
    }),
    ...(promptCaching !== undefined && { promptCaching }),
    ...(modelAliases !== undefined && { modelAliases }),
    ...(routes !== undefined && { routes }),
  }
}
