// What a model accepts, found by its name: formats ask here rather than keeping lists of models of their own.

/** From the least thinking to the most; all formats spell them alike. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

export type Effort = (typeof EFFORTS)[number]

/**
 * `Budget`: in tokens; `Level`: as one of `efforts`; `Adaptive`: the model decides, with one of `efforts` as a hint;
 * `None`: the model does not think, or rejects settings for it.
 */
export const THINKING_FORMS = ['None', 'Budget', 'Level', 'Adaptive'] as const

export type ThinkingForm = (typeof THINKING_FORMS)[number]

export interface ModelTraits {
  /** Fields of the vendor's own API for it, such as `top_k` in the Converse API. */
  readonly family: 'Claude' | 'Gemini' | 'Nova' | 'Other'
  readonly thinking: ThinkingForm
  /** That the model accepts with `Level` and `Adaptive`, in the order of EFFORTS; at least one. */
  readonly efforts: readonly Effort[]
  /** Tokens, inclusive, with `Budget`. */
  readonly budgetMin: number
  readonly budgetMax: number
  /** false: it thinks at least `budgetMin` tokens, or with the first of `efforts`. */
  readonly canStopThinking: boolean
  /** A call of a tool can be required while the model thinks. */
  readonly acceptsForcedCallWithThinking: boolean
  /** `temperature`, `top_p` and `top_k`; false: the model rejects them. */
  readonly acceptsSampling: boolean
  /** Answers can be held to a JSON Schema. */
  readonly acceptsOutputSchema: boolean
  /** Tokens; undefined: unknown. */
  readonly maxOutputTokens: number | undefined
  readonly acceptsCacheMarks: boolean
  /** Calls of tools in the history need their signature, and results may have media within. */
  readonly requiresCallSignatures: boolean
}

/** Of models that no row names: the widest that the formats have. */
export const UNKNOWN_MODEL: ModelTraits = {
  family: 'Other',
  thinking: 'Budget',
  efforts: EFFORTS,
  budgetMin: 0,
  budgetMax: Number.MAX_SAFE_INTEGER,
  canStopThinking: true,
  acceptsForcedCallWithThinking: false,
  acceptsSampling: true,
  acceptsOutputSchema: true,
  maxOutputTokens: undefined,
  acceptsCacheMarks: false,
  requiresCallSignatures: false,
}

/** One row of a list: the first that matches the name has the traits. */
export interface TraitsRow {
  readonly match: RegExp
  readonly traits: ModelTraits
}
