import type { TSchema } from '../../schemas/schemas.ts'

/** What a shape says, as JSON Schema. */
interface Shape {
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  anyOf?: Shape[]
  type?: string
}

/** A body with null for each empty text in an optional field (contract 15): forms send one for what nobody filled in. */
export const withoutEmptyTexts = (shape: TSchema, value: unknown) => replaced(shape as Shape, value)

function replaced({ anyOf = [], ...shape }: Shape, value: unknown): unknown {
  const { properties, required = [], items } = [shape, ...anyOf].find(each => each.properties || each.items) ?? shape
  if (Array.isArray(value)) return items ? value.map(each => replaced(items, each)) : value
  if (typeof value !== 'object' || value === null || !properties) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!field) return [name, each]
      return [name, each === '' && !required.includes(name) && mayBeNull(field) ? null : replaced(field, each)]
    }),
  )
}

const mayBeNull = ({ anyOf = [] }: Shape) => anyOf.some(({ type }) => type === 'null')
