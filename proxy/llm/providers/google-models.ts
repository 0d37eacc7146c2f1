// Names of models on Vertex AI (data-plane supplement sections 3.2 and 3.3).

export type ModelFamily = 'Claude' | 'Gemini' | 'Other'

const CLAUDE_PUBLISHER = /^(?:publishers\/anthropic\/models\/|anthropic\/)/
const GOOGLE_PUBLISHER = /^(?:publishers\/google\/models\/|google\/|models\/)/

export function familyOf(model: string): ModelFamily {
  if (model.startsWith('claude-') || CLAUDE_PUBLISHER.test(model)) return 'Claude'
  return googleModel(model).startsWith('gemini-') ? 'Gemini' : 'Other'
}

/** Without the publisher; the date of the version stands behind `@`. */
export function claudeModel(model: string): string {
  return model.replace(CLAUDE_PUBLISHER, '').replace(/-(\d{8})$/, '@$1')
}

/** Without the publisher Google, which has the other models. */
export function googleModel(model: string): string {
  return model.replace(GOOGLE_PUBLISHER, '')
}
