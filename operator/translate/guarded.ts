// Keeps what the schema would have refused (an older CRD, a hand-made manifest) from breaking anything but itself.

export const WRONG_FORM = 'does not have the form that the CRD of this version asks for'

export function guarded<T>(translateOne: () => T, broken: () => T): T {
  try {
    return translateOne()
  } catch {
    return broken()
  }
}
