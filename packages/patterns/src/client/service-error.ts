/** What an error of the service's client means. */
import { codeOf, statusOf } from '../refusal.ts'
import { isOutcomeUnknown } from './watch.ts'

export type Rejection = 'exists' | 'missing' | 'changed'

const rejections: Readonly<Record<string, Rejection>> = {
  EntityAlreadyExists: 'exists',
  ResourceNotFound: 'missing',
  EntityNotFound: 'missing',
  UpdateConditionNotSatisfied: 'changed',
  ConditionNotMet: 'changed',
}

/** Undefined for errors that are no verdict on a row: a missing table, a refused signature, a lost answer. */
export function rejectionOf(error: unknown): Rejection | undefined {
  return rejections[codeOf(error) ?? '']
}

/** Which step of a transaction was refused: `2:The specified entity already exists.` */
export function refusedStep(error: unknown): number {
  return Number(/^(\d+):/.exec((error as Error).message)?.[1] ?? 0)
}

export function isAnswerLost(error: unknown): boolean {
  return isOutcomeUnknown(statusOf(error))
}
