/** A JSON Schema of the OpenAPI document. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string | undefined
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  examples?: unknown[] | undefined
  [keyword: string]: unknown
}
