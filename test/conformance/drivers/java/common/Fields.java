package conformance;

import java.lang.reflect.Field;

/** Reads and sets private fields that the SDK does not expose. */
public final class Fields {
    private Fields() {
    }

    /** Follows a path of fields that begins at the object, and returns the last value. */
    public static Object get(Object object, String... path) throws ReflectiveOperationException {
        for (String name : path) {
            object = find(object.getClass(), name).get(object);
        }
        return object;
    }

    public static void set(Object object, String name, Object value) throws ReflectiveOperationException {
        find(object.getClass(), name).set(object, value);
    }

    private static Field find(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }
}
