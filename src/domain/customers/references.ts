import type { FieldError } from '../../errors/api-error.ts'
import type { ChosenReference, CustomerChange } from './input.ts'

export interface CachedReference {
  code: string | null
  name: string | null
}

/** Looks up a value in the reference cache. Returns undefined if it has none. */
export type ReferenceLookup = (type: string, value: string) => CachedReference | undefined

/** The references of a request, by type. Null removes a reference. */
type ChosenReferences = ReadonlyMap<string, ChosenReference>

/** Returns the references of a request. `references: null` removes all stored ones, except those of the `protectedTypes`. */
export function getChosenReferences(
  { references }: CustomerChange,
  stored: ReadonlyMap<string, string>,
  protectedTypes: ReadonlySet<string>,
): ChosenReferences {
  if (references === null)
    return new Map([...stored.keys()].filter(type => !protectedTypes.has(type)).map(type => [type, null]))
  return new Map(Object.entries(references ?? {}))
}

/** Returns the ID of a chosen value. Null removes the reference. */
export const getValueId = (choice: ChosenReference) =>
  typeof choice === 'object' && choice !== null ? choice.referenceValueId : choice

/** True if the string can be the name of a reference type. */
const isTypeName = (type: string) => type.isWellFormed() && /^\P{Cc}{1,100}$/u.test(type)

/** Returns the types and values that a change names. Omits removed references and invalid types. */
export const getNamedValues = ({ references }: CustomerChange) =>
  Object.entries(references ?? {}).flatMap(([type, choice]): [type: string, value: string][] => {
    const value = getValueId(choice)
    return value !== null && isTypeName(type) ? [[type, value]] : []
  })

/** Returns the references after a request: value by type. */
export function mergeReferences(
  stored: ReadonlyMap<string, string>,
  changes: ReadonlyMap<string, string | null>,
): Record<string, string> {
  const entries = [...new Map<string, string | null>([...stored, ...changes])]
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
}

/** The maximum number of references in a request. */
export const maxReferences = 100

/**
 * Returns the errors of the references in a request. `allowed` are the permitted types; if it is empty, all types in the cache are permitted.
 * An unchanged reference is always valid, even if its type is not permitted or its value is not in the cache.
 */
export function checkReferences(
  chosen: ChosenReferences,
  stored: ReadonlyMap<string, string>,
  lookUp: ReferenceLookup,
  allowed: readonly string[],
): FieldError[] {
  if (chosen.size > maxReferences)
    return [createError('/references', `A customer can have at most ${maxReferences} references.`)]
  return [...chosen].flatMap(([type, choice]) => {
    const pointer = getReferencePointer(type)
    const value = getValueId(choice)
    if (!isTypeName(type)) return [createError(pointer, "This isn't a valid reference type.")]
    if (value === null) return []
    const cached = lookUp(type, value)
    if (value !== stored.get(type)) {
      if (allowed.length && !allowed.includes(type))
        return [
          createError(
            pointer,
            `This reference type isn't allowed for customers; use one of ${allowed.map(quote).join(', ')}.`,
          ),
        ]
      if (!cached) return [createError(pointer, 'Value not found in this reference type.')]
    }
    return typeof choice === 'object' && choice !== null ? checkDescription(choice, cached, pointer) : []
  })
}

/** Returns an error for `code` and for `name` of a chosen reference if they differ from the cached value. */
function checkDescription(
  choice: Exclude<ChosenReference, string | null>,
  cached: CachedReference | undefined,
  at: string,
) {
  const differs = (field: 'code' | 'name') => choice[field] !== undefined && choice[field] !== (cached?.[field] ?? null)
  return (['code', 'name'] as const)
    .filter(differs)
    .map(field =>
      createError(
        `${at}/${field}`,
        `\`${field}\` doesn't match this reference value. Leave it out, or read the customer again.`,
      ),
    )
}

const createError = (pointer: string, detail: string): FieldError => ({ pointer, code: 'invalid_field', detail })
const quote = (name: string) => `\`${name}\``

/** Returns the JSON pointer of a reference (RFC 6901). */
export const getReferencePointer = (type: string) => `/references/${type.replaceAll('~', '~0').replaceAll('/', '~1')}`
