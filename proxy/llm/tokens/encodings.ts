// The encodings in which prompts are counted (data-plane supplement section 3.5), and the models that have them.

/** A tokenizer with a published vocabulary. */
export type EncodingName = 'cl100k_base' | 'o200k_base'

/** With versions, dates and fine-tuned variants. The names are those of tiktoken. */
const O200K = /^(?:ft:)?(?:o[134](?:-|$)|chatgpt-4o-|gpt-(?:4o|4\.1|4\.5|5|oss)(?:[-.:]|$))/

/** Models of encodings that the proxy does not have. */
const OTHER =
  /^(?:text-(?:davinci|curie|babbage|ada|similarity|search)-|code-(?:davinci|cushman|search)-|(?:davinci|cushman)-codex$|(?:davinci|curie|babbage|ada|gpt-?2)$)/

/** Unknown names have `cl100k_base`; undefined: the model has an encoding that the proxy cannot count. */
export function encodingOf(model: string): EncodingName | undefined {
  if (OTHER.test(model)) return undefined
  return O200K.test(model) ? 'o200k_base' : 'cl100k_base'
}
