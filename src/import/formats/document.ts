import type { ColumnShape } from '../pipeline/cells.ts'
import { columnsOf } from '../pipeline/columns.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { importTypes } from '../pipeline/import-types.ts'

/** `docs/reference/import-formats.md`: every feed with its columns, made from the shapes. */
export const importTypesDocument = () =>
  `${introduction}${Object.entries(importTypes)
    .map(([name, kind]) => section(name, kind))
    .join('')}`

const introduction = `# Feeds

A back office that can write files is connected by them: \`tillbridge import <kind> <file…>\`. This page is made from the shapes in
\`src/domain\` by \`npm run docs\`.

## Files

* **CSV** (RFC 4180): UTF-8 and commas unless options say otherwise (below); the first line names the columns, in any order. Cells with
  commas, quotation marks or line breaks stand in quotation marks.
* **NDJSON**: one JSON object a line, its fields named like the columns, without objects or lists in them. Text stands in quotation
  marks, also where it looks like a number (\`"008"\`); whole numbers may be JSON numbers; an amount is text or a whole number.
* The format is told by the name (\`.csv\`, \`.ndjson\`, \`.jsonl\`) or by \`--format\`. Either may be packed with gzip or zstd. \`-\` is standard
  input, CSV unless \`--format\` says otherwise. A pipe that has a name (\`mkfifo\`, \`/dev/stdin\`) is read as that is, once.
* A line can have at most 1 MiB, and a cell 65,536 characters. Files can be of any size.

Columns that are called otherwise are named with \`--map ours=theirs\`, as often as needed, and one column may serve for two of ours;
columns that are not needed are passed over with \`--ignore theirs\`, all that are not known with \`--ignore '*'\`. Any other column that is not known stops the import before it begins:

    tillbridge import transactions sales.csv.gz --map id=InvoiceNo --map number=InvoiceNo --map lineId=Line \\
      --map saleDate=InvoiceDate --map quantity=Quantity --map price=UnitPrice --map sku=StockCode --ignore Country

## Files as they are

| Option | What it is for |
|---|---|
| \`--set ours=value\` | A column that the file lacks, the same in every line: \`--set channel=store\`. It outranks the file's own column of that name. |
| \`--date-format\` | How days and times are written: \`DD.MM.YYYY\`, \`"M/D/YY H:MM AM"\`, \`DD-MMM-YYYY HH:MM:SS\`. One letter takes one digit or two; \`MMM\` is an English month, \`MM\` behind an hour the minutes; two digits of a year are 1970 to 2069, of a birthday none that is to come but the century before. A day alone is its midnight. |
| \`--time [ours=]theirs\` | The column with the time of day, where another one has the day; of several times, which one: \`--time saleDate=Time\`. |
| \`--decimal ,\` | What stands before the decimals: then \`1.234,50\` is read, and with \`--decimal .\` \`1,234.50\`. Unless it is said there are no separators of thousands. |
| \`--delimiter ";"\` | What separates the cells of CSV: one character, or \`tab\`. |
| \`--encoding\` | Such as \`windows-1252\`, \`iso-8859-15\`, \`utf-16\` (the labels of the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels)). Unless it is said the bytes tell: UTF-16 by its mark or its zeros; CSV whose first bytes beyond ASCII are no UTF-8 is taken for Windows-1252. Either is said when it is done. The mark of UTF-8 outranks the option. |
| \`--save-profile tills.json\` | Keeps all of these with \`--map\` and \`--ignore\` once an import has gone to its end, for \`--profile tills.json\`. Options that are given besides outrank it, column by column: what one of them names is no longer mapped, set or ignored as the profile says. |

    tillbridge import transactions sunday.csv --delimiter ";" --decimal , --date-format DD.MM.YYYY --time Uhrzeit \\
      --set channel=store --map id=Bon --map saleDate=Datum --save-profile tills.json
    tillbridge import transactions monday.csv --profile tills.json

A whole number may be written with decimals that are zeros (\`1.0\`). What was weighed or measured has a \`quantity\` of up to three
decimals, and a unit \`price\` that is finer than the currency is kept, with up to four; the \`value\` of a line is rounded to the
currency's decimals, halves away from zero. Parquet is not read: DuckDB makes CSV of it, \`copy (from 'sales.parquet') to 'sales.csv'\`.

## What a line does

* A line whose key is new adds a record, otherwise it changes the one that is there. Nothing is deleted, except from
  the copies of what an e-commerce platform has (\`ecommerce-…\`): there a whole file replaces the one before, and one
  is imported at a time.
* **A column that is absent keeps what is stored. An empty cell clears it**, and so does \`null\`; but where a column is marked ° an
  empty cell leaves what is stored.
* Blanks at the ends of an identifier are no part of it. A text that a spreadsheet has made a number, such as \`6.47789E+12\`, is rejected.
* A line that says what is stored already changes nothing: importing a file twice moves no \`updateTimeStamp\`.
* **\`updateTimeStamp\` is the time of the change at its source**, as far as the order of changes allows it: never at or before an \`asOf\`
  that a client was given. In the first import of a list every time is kept that has passed, in whatever order the lines are; the list
  shows nothing until the import has ended. Later on, what is older than the newest record of the list comes right after that one.
* Where a key comes twice in a file, the later line wins.
* Times are those of the service's time zone: \`YYYY-MM-DD HH:MM:SS\`, also with \`T\` or without seconds; a day alone is its midnight.
* Flags are \`true\`, \`false\`, \`yes\`, \`no\`, \`y\`, \`n\`, \`1\` or \`0\`. Amounts have a point before the decimals, and no more decimals than
  the service's currency.

## Order

What is named should be there first: ${Object.keys(importTypes)
  .map(name => `\`${name}\``)
  .join(', ')}.
Stock of an unknown store or SKU is rejected, and so is a mapping or a reward of something unknown. Transactions are taken as they
are. References may come at any time: what shows them follows.

## Moving in

Whoever leaves an earlier system for the embedded back office brings along its open business as well: \`orders\`, so that they are found
and can be returned, and \`vouchers\`, so that they can be spent. Goods and customers come first. The retail history is \`transactions\`: an
imported order adds nothing to it until something happens to the order here.

* **Rehearse.** Import an export weeks before. The same file again changes nothing, and a later one moves on what nobody has touched here.
* **Move.** Stop selling with the earlier system, export once more, import, and go live. From then on what was used here is not
  overwritten: a line that says something else of it is rejected, and somebody decides.
* **PINs** are hashed on their way in, with the key of the installation, as those of vouchers that are issued here: 5 wrong ones guard an
  imported voucher too. They are not stored, and not written to the rejected file. The file that they came in is yours to delete.
* The words of a \`status\` are those below: what was paid and not sent yet is \`processing\`, what was sent or collected \`shipped\`.
* What an imported order says was paid with a voucher goes back to that voucher with a return.

    tillbridge import vouchers vouchers.csv --dry-run
    tillbridge import orders orders.csv --map orderNumber=Name --map total=Total --map paymentGateway="Payment Method" …

## Rejected lines

A line with a fault is rejected, with all its faults; the others go in. The rejected ones are in \`<file>.rejected.csv\`, those of NDJSON in
\`<file>.rejected.ndjson\` (or where \`--rejected\` says), behind \`line\`, \`column\` and \`reason\`. Mend the cells and import that file, with the
same \`--map\`; the three may stay, and for \`ecommerce-…\` they have to: by them the file is known for a part, and not for all that there is.
PINs are left out, and have to be entered again. Records of NDJSON have the three as their first fields, and so has what is mended in the
console; what a line does not give stays away, since \`null\` would clear it. The text of a line that is no object stands in \`reason\`.
A field of your own that is called like one of the three takes its place. Without a rejected line there is no such file, and that of an earlier
import is removed.

**What you have edited stays.** Where \`<file>.rejected.csv\` is not as it was written (a hidden file beside it has its digest), or is of
another service or type, the next import of the file leaves it alone, says so, and puts what it refuses into
\`<file>.rejected-2.csv\`. \`--overwrite-rejected\` writes over it.

**Cells of CSV are as they were, but for formulas.** A cell that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return would be run
by a spreadsheet: it has an apostrophe in front, and so has one that begins with apostrophes and then one of these. A number or a
telephone number is left alone: a sign, a digit, then digits, spaces, points and parentheses (\`-5.00\`, \`+61 (03) 9999 1234\`). When a
file with the three columns in front is imported, or one that has those of \`tillbridge mapping check --csv\`, that apostrophe is taken
away again; in any other file an apostrophe is one.

At the end stands how many lines were rejected for which reason, with the first one of each. \`--stop-after 100\` ends an import early
once so many lines are rejected. \`--dry-run\` finds the faults that can be found without writing.

A \`.rejected.csv\` is in UTF-8 with commas whatever its file was, and is read so under the same options, also where a spreadsheet has put
the mark of UTF-8 in front; its numbers and days are as they were.

## Interrupted imports

Lines go in by batches of about two thousand, each of them whole or not at all, and how far an import has come is noted in the database
with the digest of the file. In the first import of stores, products, stock, customers or transactions two
batches may be under way, unless \`--stop-after\` is given: where it is killed then, the second may be in and the first not, and \`--resume\`
goes on behind the last batch up to which all are in. An import that was stopped (Ctrl-C), killed, or lost its database is gone on with by the same command
and \`--resume\`: it reads past what is in. What is rejected then stands in a file beside the earlier one
(\`<file>.rejected-2.csv\`). A file that was changed in the meantime begins at its first line, and so does an import without
\`--resume\`, which is as safe and takes longer. A stream cannot be gone on with.

## Exit code

| Code | Meaning |
|---|---|
| 0 | everything was imported, or was there already |
| 2 | lines were rejected |
| 1 | the import could not be done, or not to its end: what went in stays, and importing the file again is safe |
| 130, 143 | Ctrl-C or SIGTERM ended it behind what was under way: it says what went in, and the line that it got to |
`

function section(name: string, type: ImportType) {
  const columns = columnsOf(type)
  const rows = columns.map(({ name: column, shape, required, kept, inPath }) => {
    const left = !required && (kept || shape.type === 'boolean' || shape.enum)
    const mark = required ? 'yes' : left ? '°' : ''
    return `| \`${column}\` | ${mark} | ${cell(shape.description)} | ${form(shape)}${inPath ? ', without `/` and `\\`' : ''} | \`${cell(String(shape.examples[0]))}\` |`
  })
  const key = type.toldApart ?? type.key
  return `
## ${name}

${type.description}${type.remarks ? ` ${type.remarks}` : ''} Key: ${key.map(column => `\`${column}\``).join(', ')}.

| Column | Required | What | Form | Example |
|---|---|---|---|---|
${rows.join('\n')}

    tillbridge import ${name} ${name}.csv

\`\`\`csv
${exampleFile(type)}\`\`\`
`
}

/** A file of two lines that can be imported as it stands. */
export function exampleFile(type: ImportType) {
  const columns = columnsOf(type)
  const [first, second] = type.examples as readonly [Record<string, string>, Record<string, string>]
  const one = columns.map(({ name, shape }) => first[name] ?? String(shape.examples[0]))
  const two = columns.map(
    ({ name, required }, i) => second[name] ?? (required || type.together !== undefined ? (one[i] ?? '') : ''),
  )
  const lines = [columns.map(column => column.name), one, two]
  return lines.map(cells => `${cells.join(',')}\n`).join('')
}

const cell = (text: string) => text.replaceAll('|', '\\|')

const formats: Readonly<Record<string, string>> = {
  money: 'amount',
  date: '`YYYY-MM-DD`',
  birthday: '`YYYY-MM-DD`, not in the future',
  'local-time': '`YYYY-MM-DD HH:MM:SS`',
  'unit-price': 'amount, four decimals at most',
  percent: 'number, four decimals at most',
  email: 'e-mail address',
}

/** What a cell may look like. */
function form({ type, enum: words, format, minimum = -Infinity, maxLength, pattern }: ColumnShape) {
  if (words) return words.map(word => `\`${word}\``).join(', ')
  if (type === 'boolean') return 'flag'
  if (type === 'number') return 'number, three decimals at most'
  if (type === 'integer') return minimum > -2_147_483_648 ? `whole number, ${minimum} or more` : 'whole number'
  const known = format === undefined ? undefined : formats[format]
  if (known) return known
  return maxLength === undefined ? (pattern ? 'digits' : 'text') : `text, at most ${maxLength} characters`
}
