import { checkSettings, getDefault, SettingsChange, ShownSettings } from '../domain/tenancy/settings-rules.ts'
import { validateBody } from '../http/body/validate.ts'

/** The parts of a setting's schema that the command line uses. */
interface SettingSchema {
  type?: string
  anyOf?: SettingSchema[]
  items?: SettingSchema
  description?: string
  examples?: unknown[]
}

const schemas = ShownSettings.properties as Record<string, SettingSchema>

/** Returns each setting with its description and default. */
export const describeSettings = () =>
  Object.entries(schemas).map(([name, { description = '' }]) => ({
    name,
    description,
    byDefault: formatValue(getDefault(name)),
  }))

/** Formats a setting's value as it is written after `name=`. */
export const formatValue = (value: unknown) => {
  if (value === null) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Parses `setting=value` arguments; `setting=default` becomes null. Throws an error that lists every problem. */
export function readAssignments(assignments: readonly string[]): SettingsChange {
  const problems: string[] = []
  const change: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, name = assignment, text] = /^(\w+)=(.*)$/s.exec(assignment) ?? []
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (text === undefined) problems.push(`${assignment} must have the form setting=value.`)
    else if (!schema) problems.push(`Setting ${name} not found. Settings: ${Object.keys(schemas).join(', ')}.`)
    else if (Object.hasOwn(change, name)) problems.push(`${name} can't be set twice.`)
    else {
      change[name] = text === 'default' ? null : parseValue(schema, text)
      const single = { [name]: change[name] } as SettingsChange
      const errors = validateBody(SettingsChange, single, { currency: 'USD' })
      for (const { detail, pointer = '' } of errors.length ? errors : checkSettings(single))
        problems.push(`${pointer.slice(1).replaceAll('/', '.')}: ${detail} Example: ${formatExample(name, schema)}`)
    }
  }
  if (problems.length) throw new Error(problems.join('\n'))
  return change
}

/** Converts text to the type of the setting's schema. Returns the text if that is impossible, so that validation rejects it. */
function parseValue({ type, anyOf = [], items }: SettingSchema, text: string): unknown {
  const accepts = (jsonType: string) => type === jsonType || anyOf.some(choice => choice.type === jsonType)
  if (accepts('integer') && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (accepts('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  if (accepts('array') || accepts('object')) {
    const value = parseJson(text)
    if (value !== undefined) return value
    if (items?.type === 'string') return text.split(',').map(part => part.trim())
  }
  return text
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : undefined
  } catch {
    return
  }
}

/** Formats an example assignment, quoted for a shell. */
function formatExample(name: string, { examples = [], items }: SettingSchema) {
  const [example] = examples
  if (typeof example !== 'object') return `${name}=${example}`
  return Array.isArray(example) && items?.type === 'string'
    ? `${name}=${example.join()}`
    : `'${name}=${JSON.stringify(example)}'`
}
