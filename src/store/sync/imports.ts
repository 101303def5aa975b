import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A file to import, identified by the SHA-256 of its content. */
interface ImportedFile {
  importType: string
  digest: Buffer
}

const isOfFile = (service: Service, { importType, digest }: ImportedFile) =>
  sql`service_id = ${service.id} and import_type = ${importType} and digest = decode(${digest.toString('hex')}, 'hex')`

/** Finds the last line of an interrupted import of the file, and the minutes since then. */
export const findInterruptedImport = (db: Db, service: Service, file: ImportedFile) =>
  db.row<{ line: number; minutes: number }>(sql`
    select line::float8 as line, (extract(epoch from clock_timestamp() - reached_at) / 60)::integer as minutes
      from import_progress where ${isOfFile(service, file)}`)

/** Records that all lines up to this one are imported. Call it after their commit. */
export const recordImportProgress = (db: Db, service: Service, file: ImportedFile, line: number) =>
  db.run(sql`
    insert into import_progress (service_id, import_type, digest, line, reached_at)
    values (${service.id}, ${file.importType}, decode(${file.digest.toString('hex')}, 'hex'), ${line}, clock_timestamp())
    on conflict (service_id, import_type, digest) do update set (line, reached_at) = (excluded.line, excluded.reached_at)`)

/** Deletes the progress of a file, and progress that is older than 30 days. */
export const deleteImportProgress = (db: Db, service: Service, file: ImportedFile) =>
  db.run(sql`
    delete from import_progress
     where ${isOfFile(service, file)} or service_id = ${service.id} and reached_at < clock_timestamp() - interval '30 days'`)
