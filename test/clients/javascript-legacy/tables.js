/** The client's callbacks as promises. */
import azure from 'azure-storage'

/** Every method of a table service that ends in a callback, as one that returns a promise. */
export function withPromises(service) {
  return new Proxy(service, {
    get(target, name) {
      const member = target[name]
      if (typeof member !== 'function' || synchronous.has(name)) return member
      return (...args) =>
        new Promise((resolve, reject) => {
          member.call(target, ...args, (error, result) => (error ? reject(error) : resolve(result)))
        })
    },
  })
}

const synchronous = new Set(['generateSharedAccessSignature', 'withFilter'])

/** An entity as the client wants it: numbers, texts and truths may stay plain. */
export function entityOf(PartitionKey, RowKey, properties = {}) {
  const { String } = azure.TableUtilities.entityGenerator
  return { PartitionKey: String(PartitionKey), RowKey: String(RowKey), ...properties }
}

/** The properties of an entity without types, keys and what the service added. */
export function plain(entity) {
  const own = Object.entries(entity).filter(([name]) => !added.has(name))
  return Object.fromEntries(own.map(([name, property]) => [name, property._]))
}

const added = new Set(['PartitionKey', 'RowKey', 'Timestamp', '.metadata'])
