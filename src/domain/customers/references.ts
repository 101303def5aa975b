import type { FieldError } from '../../errors/api-error.ts'
import type { ChosenReference, CustomerChange } from './input.ts'

/** A value of the reference cache. */
export interface KnownReference {
  code: string | null
  name: string | null
}

/** What the reference cache knows of a value; undefined: nothing. */
export type KnownReferences = (type: string, value: string) => KnownReference | undefined

/** References of a request: what was chosen, by type; null takes a reference away. */
type ChosenReferences = ReadonlyMap<string, ChosenReference>

/** The chosen references. `references: null` takes all away that are stored, but those of the `kept` types. */
export function chosenReferences(
  { references }: CustomerChange,
  stored: ReadonlyMap<string, string>,
  kept: ReadonlySet<string>,
): ChosenReferences {
  if (references === null) return new Map([...stored.keys()].filter(type => !kept.has(type)).map(type => [type, null]))
  return new Map(Object.entries(references ?? {}))
}

/** The identifier of a chosen value. */
export const valueIdOf = (choice: ChosenReference) =>
  typeof choice === 'object' && choice !== null ? choice.referenceValueId : choice

/** Whether a name, any text that came in a body, can be that of a type at all. */
const isTypeName = (type: string) => type.isWellFormed() && /^\P{Cc}{1,100}$/u.test(type)

/** The values that a request names, with their types. */
export const namedValues = ({ references }: CustomerChange) =>
  Object.entries(references ?? {}).flatMap(([type, choice]): [type: string, value: string][] => {
    const value = valueIdOf(choice)
    return value !== null && isTypeName(type) ? [[type, value]] : []
  })

/** The customer's references after a request: value by type. */
export function referencesAfter(
  stored: ReadonlyMap<string, string>,
  given: ReadonlyMap<string, string | null>,
): Record<string, string> {
  const entries = [...new Map<string, string | null>([...stored, ...given])]
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
}

/** How many references a request may give a customer. */
export const mostReferences = 100

/**
 * Every fault of the references that a request gives. `allowed` are the types that a customer may be given; empty: any that the
 * cache knows. One that stays as it is stored may be of any type, and unknown to the cache.
 */
export function faultsOfReferences(
  chosen: ChosenReferences,
  stored: ReadonlyMap<string, string>,
  known: KnownReferences,
  allowed: readonly string[],
): FieldError[] {
  if (chosen.size > mostReferences)
    return [fault('/references', `A customer can have at most ${mostReferences} references.`)]
  return [...chosen].flatMap(([type, choice]) => {
    const at = pointerTo(type)
    const value = valueIdOf(choice)
    if (!isTypeName(type)) return [fault(at, "This isn't a valid reference type.")]
    if (value === null) return []
    const cached = known(type, value)
    if (value !== stored.get(type)) {
      if (allowed.length && !allowed.includes(type))
        return [
          fault(at, `This reference type isn't allowed for customers; use one of ${allowed.map(quoted).join(', ')}.`),
        ]
      if (!cached) return [fault(at, 'This value of the reference type not found.')]
    }
    return typeof choice === 'object' && choice !== null ? astray(choice, cached, at) : []
  })
}

/** What a request says of a value beside its identifier, where it is not so. */
function astray(choice: Exclude<ChosenReference, string | null>, cached: KnownReference | undefined, at: string) {
  const differs = (field: 'code' | 'name') => choice[field] !== undefined && choice[field] !== (cached?.[field] ?? null)
  return (['code', 'name'] as const)
    .filter(differs)
    .map(field =>
      fault(
        `${at}/${field}`,
        `\`${field}\` doesn't match this reference value. Leave it out, or read the customer again.`,
      ),
    )
}

const fault = (pointer: string, detail: string): FieldError => ({ pointer, code: 'invalid_field', detail })
const quoted = (name: string) => `\`${name}\``

/** The place of a reference in a body (RFC 6901). */
export const pointerTo = (type: string) => `/references/${type.replaceAll('~', '~0').replaceAll('/', '~1')}`
