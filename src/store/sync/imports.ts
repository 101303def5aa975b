import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A file that is imported: what its lines are, and the SHA-256 of its bytes, so that another one of the same name is not taken for it. */
interface ImportedFile {
  importType: string
  digest: Buffer
}

const of = (service: Service, { importType, digest }: ImportedFile) =>
  sql`service_id = ${service.id} and import_type = ${importType} and digest = decode(${digest.toString('hex')}, 'hex')`

/** How far an import of the file came that was interrupted, and when; undefined where none was. */
export const interruptedAt = (db: Db, service: Service, file: ImportedFile) =>
  db.row<{ line: number; minutes: number }>(sql`
    select line::float8 as line, (extract(epoch from clock_timestamp() - reached_at) / 60)::integer as minutes
      from import_progress where ${of(service, file)}`)

/** Notes that all lines up to this one are dealt with. Call it behind their commit: what comes after it is done again. */
export const noteReached = (db: Db, service: Service, file: ImportedFile, line: number) =>
  db.run(sql`
    insert into import_progress (service_id, import_type, digest, line, reached_at)
    values (${service.id}, ${file.importType}, decode(${file.digest.toString('hex')}, 'hex'), ${line}, clock_timestamp())
    on conflict (service_id, import_type, digest) do update set (line, reached_at) = (excluded.line, excluded.reached_at)`)

/** The file is in to its end. What was interrupted a month ago is forgotten as well: nobody goes on with it. */
export const forgetReached = (db: Db, service: Service, file: ImportedFile) =>
  db.run(sql`
    delete from import_progress
     where ${of(service, file)} or service_id = ${service.id} and reached_at < clock_timestamp() - interval '30 days'`)
