import { defaultOf, faultsAmong, SettingsChange, ShownSettings } from '../domain/tenancy/settings-rules.ts'
import { validateBody } from '../http/body/validate.ts'

/** A setting as the command line tells of it. */
interface SettingShape {
  type?: string
  anyOf?: SettingShape[]
  items?: SettingShape
  description?: string
  examples?: unknown[]
}

const shapes = ShownSettings.properties as Record<string, SettingShape>

/** The settings with what they are about and what they are by default. */
export const settingTexts = () =>
  Object.entries(shapes).map(([name, { description = '' }]) => ({
    name,
    description,
    byDefault: textOf(defaultOf(name)),
  }))

/** A setting's value as it is written behind `name=`. */
export const textOf = (value: unknown) => {
  if (value === null) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The settings of `setting=value` arguments, null for `setting=default`; throws every fault in them at once. */
export function readAssignments(assignments: readonly string[]): SettingsChange {
  const faults: string[] = []
  const change: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, name = assignment, text] = /^(\w+)=(.*)$/s.exec(assignment) ?? []
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
    if (text === undefined) faults.push(`${assignment} is not of the form setting=value.`)
    else if (!shape) faults.push(`There is no setting ${name}; there are ${Object.keys(shapes).join(', ')}.`)
    else if (Object.hasOwn(change, name)) faults.push(`${name} is given twice.`)
    else {
      change[name] = text === 'default' ? null : valueFrom(shape, text)
      const alone = { [name]: change[name] } as SettingsChange
      const found = validateBody(SettingsChange, alone, { currency: 'USD' })
      for (const { detail, pointer = '' } of found.length ? found : faultsAmong(alone))
        faults.push(`${pointer.slice(1).replaceAll('/', '.')}: ${detail} An example: ${exampleOf(name, shape)}`)
    }
  }
  if (faults.length) throw new Error(faults.join('\n'))
  return change
}

/** A text as the value that the setting's shape has; what it cannot be stays a text, and is refused as one. */
function valueFrom({ type, anyOf = [], items }: SettingShape, text: string): unknown {
  const takes = (wanted: string) => type === wanted || anyOf.some(choice => choice.type === wanted)
  if (takes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (takes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  if (takes('array') || takes('object')) {
    const value = jsonOf(text)
    if (value !== undefined) return value
    if (items?.type === 'string') return text.split(',').map(part => part.trim())
  }
  return text
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : undefined
  } catch {
    return
  }
}

/** An assignment as a shell takes it. */
function exampleOf(name: string, { examples = [], items }: SettingShape) {
  const [example] = examples
  if (typeof example !== 'object') return `${name}=${example}`
  return Array.isArray(example) && items?.type === 'string'
    ? `${name}=${example.join()}`
    : `'${name}=${JSON.stringify(example)}'`
}
