import type { ColumnShape } from '../pipeline/cells.ts'
import { getColumns } from '../pipeline/columns.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { importTypes } from '../pipeline/import-types.ts'

/** Returns the pages of the import formats by their paths: an overview, and a page for each import type, generated from the schemas. */
export const renderImportFormats = (): Record<string, string> => ({
  'docs/reference/import-formats.md': overview,
  ...Object.fromEntries(
    Object.entries(importTypes).map(([name, type]) => [
      `docs/reference/import-formats/${name}.md`,
      renderPage(name, type),
    ]),
  ),
})

const overview = `# Import formats

The rules of all import types, and a page with the columns of each. [Import files](../connect/import-files.md) explains the command and its options.
This page is generated from the schemas by \`npm run docs\`.

## Values

| Type | Form |
|---|---|
| Text | In NDJSON always in quotation marks, even if it looks like a number (\`"008"\`). |
| Amount | A decimal point and at most the currency's decimals. \`--decimal ,\` reads \`1.234,50\`. |
| Integer | Decimals that are zeros are accepted (\`1.0\`). |
| Quantity, unit price | Up to three and four decimals. The \`value\` of a line is rounded to the currency, half away from zero. |
| Time | \`YYYY-MM-DD HH:MM:SS\` in the service's time zone, also with \`T\`, without seconds or with fractions. A time with \`Z\` or an offset such as \`+02:00\` is converted to the time zone. A date alone means midnight. |
| Flag | \`true\`, \`false\`, \`yes\`, \`no\`, \`y\`, \`n\`, \`1\` or \`0\`. Also yes, no, true and false in German, French, Spanish, Italian and Dutch, such as \`ja\`, \`nein\` or \`WAHR\`. |
| Identifier | Whitespace at its ends is ignored. \`6.47789E+12\` is rejected, because a spreadsheet has lost its digits. |

## Rules

- A line with a new key adds a record. Otherwise it changes the existing record.
- **A missing column keeps the stored value. An empty cell clears it**, and so does \`null\`. In columns marked °, an empty cell keeps the stored value.
- A line that equals the stored record changes nothing. Importing a file twice is safe.
- \`updateTimeStamp\` is the time of the change at its source. It never falls at or before an \`asOf\` that a client has received.
- If a key occurs twice in a file, the later line wins, with a remark if their content differs. If the later line is rejected, the earlier ones can be rejected with it.
- Nothing is deleted, except by \`ecommerce-…\` files: a complete file replaces the previous one. With \`--complete\`, a file of stock, products or customers removes what it lacks.
- A colour or product that has lost its last SKU leaves the list.

## Order

Import types in this order, because later ones refer to earlier ones:

${Object.keys(importTypes)
  .map((name, i) => `${i + 1}. [${name}](import-formats/${name}.md)`)
  .join('\n')}

Stock, mappings and rewards of unknown records are rejected. References can come at any time.
`

function renderPage(name: string, type: ImportType) {
  const columns = getColumns(type).toSorted((a, b) => Number(b.required) - Number(a.required))
  const rows = columns.map(({ name: column, shape, required, keepsIfEmpty, isPathSegment }) => {
    const isKept = !required && (keepsIfEmpty || shape.type === 'boolean' || shape.enum)
    const mark = required ? 'yes' : isKept ? '°' : ''
    return `| \`${column}\` | ${mark} | ${escapeCell(shape.description)} | ${describeForm(shape)}${isPathSegment ? ', without `/` and `\\`' : ''} | \`${escapeCell(String(shape.examples[0]))}\` |`
  })
  const key = type.documentedKey ?? type.key
  return `# Import ${name}

${type.description}${type.remarks ? ` ${type.remarks}` : ''} Key: ${key.map(column => `\`${column}\``).join(', ')}.
[Import formats](../import-formats.md) has the rules of all import types. This page is generated from the schemas by \`npm run docs\`.

## Columns

Required columns come first. In columns marked °, an empty cell keeps the stored value.
${describeRole(type)}
| Column | Required | Meaning | Form | Example |
|---|---|---|---|---|
${rows.join('\n')}

## Example

\`\`\`sh
tillbridge import ${name} ${name}.csv --service luma --dry-run
\`\`\`

The file \`${name}.csv\`:

\`\`\`csv
${renderExampleFile(type)}\`\`\`
`
}

/** Describes what the API and the console permit only to admins. The command line permits everything. */
function describeRole({ role, adminColumns = [] }: ImportType) {
  if (role === 'admin') return 'Over HTTP and in the console, this import type requires the role `admin`.\n'
  if (!adminColumns.length) return ''
  const names = adminColumns.map(column => `\`${column}\``).join(' and ')
  return `Over HTTP and in the console, only an admin can import ${names}.\n`
}

/** Returns an example file of two lines. */
export function renderExampleFile(type: ImportType) {
  const columns = getColumns(type)
  const [first, second] = type.examples as readonly [Record<string, string>, Record<string, string>]
  const firstCells = columns.map(({ name, shape }) => first[name] ?? String(shape.examples[0]))
  const secondCells = columns.map(
    ({ name, required }, i) => second[name] ?? (required || type.together !== undefined ? (firstCells[i] ?? '') : ''),
  )
  const lines = [columns.map(column => column.name), firstCells, secondCells]
  return lines.map(cells => `${cells.join(',')}\n`).join('')
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|')

const formats: Readonly<Record<string, string>> = {
  money: 'amount',
  date: '`YYYY-MM-DD`',
  birthday: '`YYYY-MM-DD`, not in the future',
  'local-time': '`YYYY-MM-DD HH:MM:SS`',
  'unit-price': 'amount, four decimals at most',
  percent: 'number, four decimals at most',
  email: 'email address',
}

function describeForm({ type, enum: words, format, minimum = -Infinity, maxLength, pattern }: ColumnShape) {
  if (words) return words.map(word => `\`${word}\``).join(', ')
  if (type === 'boolean') return 'flag'
  if (type === 'number') return 'number, three decimals at most'
  if (type === 'integer') return minimum > -2_147_483_648 ? `integer, ${minimum} or more` : 'integer'
  const description = format === undefined ? undefined : formats[format]
  if (description) return description
  return maxLength === undefined ? (pattern ? 'digits' : 'text') : `text, at most ${maxLength} characters`
}
