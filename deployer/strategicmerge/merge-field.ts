// How Kubernetes says a field of one of its types is patched. Types only.

export interface MergeField {
  /** Type of the field, or of the items of the list; only where something below it has a strategy of its own. */
  readonly type?: string
  /** Field that identifies the items of a list. */
  readonly key?: string
  /** Comma list of `merge`, `replace`, `retainKeys`. Without it maps are merged and lists replaced. */
  readonly strategy?: string
}
